//! What the daemon answers.

use super::{OutputInfo, Reason, Status};
use serde::{Deserialize, Serialize};

/// The answer to one request: `{"ok":…}` or `{"error":{"reason":"…"}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
    /// It was done.
    Ok(Answer),
    /// It was not done, and nothing has changed.
    Error {
        /// Why, on one line.
        reason: Reason,
    },
}

/// What there is to say when something was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Nothing more: `{"ok":"done"}`.
    Done,
    /// To `set`: `{"ok":{"set":{"presented":true}}}`.
    Set {
        /// Whether the picture is on a screen now.
        presented: bool,
        /// Why it is not; absent when it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
    },
    /// To `status`: `{"ok":{"status":{…}}}`.
    Status(Status),
    /// To `outputs`: `{"ok":{"outputs":[…]}}`.
    Outputs(Vec<OutputInfo>),
    /// To `seek`: `{"ok":{"seek":{"position":5400.0}}}`.
    Seek {
        /// Where the video is now, in seconds.
        position: f64,
    },
    /// To `dump`: `{"ok":{"dump":{"size":[1920,1080]}}}`.
    Dump {
        /// Columns and rows of the picture.
        size: (u32, u32),
    },
}

impl Response {
    /// An error with this reason.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Self::Error {
            reason: reason.into(),
        }
    }

    /// This response as a line for the client, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        // Only maps with other keys than strings can't be written as JSON, and there are none here; whoever adds one
        // shall see it in the answer.
        let mut line = serde_json::to_vec(self)
            .unwrap_or_else(|_| br#"{"error":{"reason":"the answer can't be written as JSON"}}"#.to_vec());
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_form_is_as_documented() {
        let line = |response: Response| String::from_utf8(response.to_line()).expect("UTF-8");
        assert_eq!(line(Response::Ok(Answer::Done)), "{\"ok\":\"done\"}\n");
        assert_eq!(
            line(Response::Ok(Answer::Set {
                presented: true,
                reason: None
            })),
            "{\"ok\":{\"set\":{\"presented\":true}}}\n"
        );
        let off = Answer::Set {
            presented: false,
            reason: Some("the outputs are off".into()),
        };
        assert_eq!(
            line(Response::Ok(off)),
            "{\"ok\":{\"set\":{\"presented\":false,\"reason\":\"the outputs are off\"}}}\n"
        );
        assert_eq!(
            line(Response::error("a\nb")),
            "{\"error\":{\"reason\":\"a b\"}}\n"
        );
        let status = Response::Ok(Answer::Status(Status::default()));
        assert!(line(status).starts_with("{\"ok\":{\"status\":{\"version\":"));
    }

    #[test]
    fn fields_of_newer_daemons_are_ignored() {
        let line = r#"{"ok":{"set":{"presented":true,"after_ms":12}}}"#;
        let response: Response = serde_json::from_str(line).expect("a response");
        assert_eq!(
            response,
            Response::Ok(Answer::Set {
                presented: true,
                reason: None
            })
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(line in any::<Vec<u8>>()) {
            let _ = serde_json::from_slice::<Response>(&line);
        }
    }
}

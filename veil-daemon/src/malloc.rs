//! One arena for all threads.
//!
//! glibc gives each thread that allocates an arena of its own and keeps what was freed there for that thread's kind. A
//! wallpaper's threads come and go with every switch, and with them some KiB a switch would stay; with one arena none
//! does. Who sets `MALLOC_ARENA_MAX` or a tunable has thought of it, and is not overruled.

/// Sets one arena, unless the environment says otherwise. To be called before any thread is made.
#[allow(unsafe_code)]
pub(crate) fn use_one_arena() {
    let chosen = std::env::var_os("MALLOC_ARENA_MAX").is_some()
        || std::env::var("GLIBC_TUNABLES").is_ok_and(|tunables| tunables.contains("arena_max"));
    if chosen {
        return;
    }
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: mallopt takes two integers and touches nothing but the allocator's settings; no other thread exists
        // yet. It fails only for values that are out of range, and one arena is not.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Gives back to the system what was freed: after a picture was decoded there is much of it, and nothing to come.
#[allow(unsafe_code)]
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: malloc_trim may be called at any time from any thread; it only returns free pages.
        unsafe { libc::malloc_trim(0) };
    }
}

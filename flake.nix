# Untested: it was written without a Nix at hand. Please say what is wrong with it.
{
  description = "veil: a video behind the desktop that costs next to nothing";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      plugins =
        pkgs: with pkgs.gst_all_1; [
          gstreamer
          gst-plugins-base
          gst-plugins-good
          gst-plugins-bad
          gst-libav
        ];
    in
    {
      packages = each (pkgs: rec {
        default = veil;
        veil = pkgs.rustPlatform.buildRustPackage {
          pname = "veil";
          version = (pkgs.lib.importTOML ./Cargo.toml).workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          # No git there that would tell the commit.
          env.VEIL_COMMIT = self.shortRev or "";
          nativeBuildInputs = with pkgs; [
            pkg-config
            makeWrapper
          ];
          buildInputs = plugins pkgs;
          # They need compositors and clips.
          doCheck = false;
          installPhase = ''
            runHook preInstall
            mkdir -p built
            find target -path '*/release/*' -maxdepth 3 -type f \
              \( -name veil -o -name veilctl -o -name libgstveil.so \) -exec cp {} built/ \;
            patchShebangs scripts/install
            scripts/install --prefix $out --from built
            runHook postInstall
          '';
          # Vulkan's loader is looked for when it is needed, and decoders by GStreamer's path.
          postFixup = ''
            wrapProgram $out/bin/veil \
              --prefix LD_LIBRARY_PATH : ${pkgs.lib.makeLibraryPath [ pkgs.vulkan-loader ]} \
              --prefix GST_PLUGIN_SYSTEM_PATH_1_0 : ${pkgs.lib.makeSearchPath "lib/gstreamer-1.0" (plugins pkgs)}
          '';
          meta = {
            description = "A wallpaper daemon for Wayland: pictures and videos at next to no cost";
            license = with pkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "veil";
            platforms = pkgs.lib.platforms.linux;
          };
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.stdenv.hostPlatform.system}.veil ];
          packages = with pkgs; [
            cargo
            clippy
            rustc
            rustfmt
            cargo-nextest
            # What the tests and scripts need.
            ffmpeg
            foot
            grim
            sway
            util-linux
            vulkan-validation-layers
            wayland-utils
            weston
          ];
          LD_LIBRARY_PATH = pkgs.lib.makeLibraryPath [ pkgs.vulkan-loader ];
        };
      });

      formatter = each (pkgs: pkgs.nixfmt-rfc-style);
    };
}

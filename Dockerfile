# One static binary and the CA roots: no shell, no libc, any user.
FROM rust:1.95-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
WORKDIR /build
# A target that is named keeps the flag away from build scripts and procedural macros, which cannot be static.
ENV RUSTFLAGS="-C target-feature=+crt-static"
# `release` builds in half the time; `image` is half the size, for an image that is built once and pulled often.
ARG PROFILE=release

# The dependencies alone, so that a change to the sources does not build them again. Cargo reads the manifest without tests/
# here, so a [[test]] or [[bench]] in it has to name its path. The crates beside the program change seldom.
COPY Cargo.toml Cargo.lock ./
COPY crates crates
RUN mkdir src \
    && printf '//! A stand-in.\nfn main() {}\n' > src/main.rs \
    && printf '//! A stand-in.\n' > src/lib.rs \
    && cargo build --profile "$PROFILE" --locked --bin goldgate --target "$(rustc --print host-tuple)"

# `goldgate explain` prints the texts of docs/errors.md.
COPY docs/errors.md docs/errors.md
# The copied sources may be older than the stand-ins, and cargo goes by the time: touched, they are built.
COPY src src
RUN touch src/main.rs src/lib.rs \
    && cargo build --profile "$PROFILE" --locked --bin goldgate --target "$(rustc --print host-tuple)" \
    && cp "target/$(rustc --print host-tuple)/$PROFILE/goldgate" /goldgate

FROM scratch
LABEL org.opencontainers.image.title="goldgate" \
      org.opencontainers.image.description="The gate for LLM agents in pull requests" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /goldgate /goldgate
# No USER: GitHub wants container actions to run as the default user, or the runner's files cannot be written.
ENTRYPOINT ["/goldgate", "action"]

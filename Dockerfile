# Two stages: the first has the compiler, the second what runs.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends esbuild libcurl4-openssl-dev libsqlite3-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src

# Dependencies change seldom: their layer outlives changes of the sources.
COPY Package.* ./
RUN swift package resolve

COPY Sources Sources
# Not built, but named by the manifest, which wants all of its folders to be there.
COPY Tests Tests
COPY Benchmarks Benchmarks
COPY Scripts/build Scripts/functions.order Scripts/
RUN Scripts/build --static-swift-stdlib \
  && cp "$(Scripts/build --show-bin-path)/didchange" /didchange \
  && strip /didchange

COPY Public Public
COPY Scripts/minify Scripts/
RUN Scripts/minify /Public

FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends libcurl4 libsqlite3-0 \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --system --gid 10001 didchange \
  && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /data \
    --shell /usr/sbin/nologin didchange \
  && install -d -o didchange -g didchange /data
COPY --from=build /didchange /usr/local/bin/didchange
# Found from the executable: ../share/didchange/Public.
COPY --from=build /Public /usr/local/share/didchange/Public
USER didchange
VOLUME /data
WORKDIR /data
EXPOSE 8080
# Streams end after a whole event, and the process with 0 within two seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["didchange", "healthcheck", "http://127.0.0.1:8080/healthz"]
# The address of the container, whatever the configuration says: EXPOSE and HEALTHCHECK count on it.
ENTRYPOINT ["didchange", "serve", "--host", "0.0.0.0", "--port", "8080"]

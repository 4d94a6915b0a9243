# syntax=docker/dockerfile:1
# The site as one container: web server and background work, data in the volume /data. See host/DEPLOY.md.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

# Scripts for browsers, which need the tools of development.
FROM ${NODE_IMAGE} AS bundles
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node host/sources/build.js

# Node comes with the image, so that the pinned one is left out with the other optional packages.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="svc" \
  org.opencontainers.image.description="A plugin host for Node, and the AI service that ships as its main plugin" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data PLUGIN_DIRS=/data/plugins,/app/plugins
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=bundles /app/package.json /app/tsconfig.json /app/LICENSE ./
COPY --from=bundles /app/views views
COPY --from=bundles /app/plugins plugins
COPY --from=bundles /app/host host
# One command leaves what Node compiled beside the packages: a read-only container starts as fast as a second start.
RUN DATA_DIR=/tmp/first node host/cli/main.js option get blogname && rm -rf /tmp/first \
  && mkdir -p /data/plugins && chown -R node:node /data
USER node
VOLUME /data
EXPOSE 3000
# Node handles SIGTERM: requests and deliveries end, then the process does.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "host/main.js"]

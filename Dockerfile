FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/local-engine/package.json ./packages/local-engine/package.json
COPY packages/apollo/package.json ./packages/apollo/package.json
COPY packages/urql/package.json ./packages/urql/package.json
COPY packages/client/package.json ./packages/client/package.json
COPY packages/react/package.json ./packages/react/package.json
COPY packages/elements/package.json ./packages/elements/package.json
COPY bench/package.json ./bench/package.json
# The sources are not here yet, so there is nothing to build for the prepare script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY packages ./packages
COPY parts ./parts
COPY console ./console
COPY src ./src
RUN npm run build -- --fast

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The server alone: in production the databases are given, and the local engine stays out.
RUN npm ci --omit=dev --workspaces=false --ignore-scripts
# docker build --build-arg TELEMETRY=on: with the SDK for --telemetry. --build-arg FEDERATION=on: with the packages for FEDERATION=on. Both at
# the versions they are tested with, and in one step: another one would remove what the first has added.
ARG TELEMETRY=off
ARG FEDERATION=off
RUN set --; \
  if [ "$TELEMETRY" = on ]; then set -- @opentelemetry/sdk-node; fi; \
  if [ "$FEDERATION" = on ]; then set -- "$@" @apollo/subgraph @pothos/plugin-directives @pothos/plugin-federation; fi; \
  if [ $# -gt 0 ]; then npm install --no-save --save-prod --omit=dev --workspaces=false --ignore-scripts $(node -p 'process.argv.slice(1).map((name) => name + "@" + require("./package.json").devDependencies[name]).join(" ")' "$@"); fi

FROM node:24.21.0-bookworm-slim
# Room for young objects, in MiB: with Node's default, garbage collection copies them again and again while much is pushed.
ENV NODE_OPTIONS=--max-semi-space-size=32
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/console/dist ./console/dist
COPY --from=build /app/packages/elements/dist/elements.js ./packages/elements/dist/elements.js
COPY bin ./bin
COPY templates ./templates
COPY package.json ./
RUN install -d -o node -g node /data
USER node
EXPOSE 4000
# Alive, not ready: a database that is away is no reason to restart the API.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "bin/fanfare.js"]
CMD ["serve"]

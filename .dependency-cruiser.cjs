const { readdirSync } = require('node:fs');

/**
 * What each part of the server may import beside its own files and `PART_KIT`, as its imports.json says. Those that are features have the
 * layers of one, and may import what features may.
 */
const PARTS = readdirSync(`${__dirname}/parts`).map((name) => ({
  name,
  ...require(`./parts/${name}/imports.json`),
}));
const FEATURE_PARTS = PARTS.filter(({ isFeature = false }) => isFeature).map(({ name }) => name);

/**
 * The house: what a file of src/ may import. Arrows only point down this list; a layer may import itself and everything below
 * it. The files of a feature lie in layers by what they are: its fields of the API, its jobs, what it stores, what a part declares of
 * settings, metrics, log lines and the host's configuration; its other files are its use cases.
 */
const FEATURE = `^(?:src/(?:features/[^/]+|feed|fan-out)|parts/(?:${FEATURE_PARTS.join('|')})/src)`;
const LAYERS = [
  ['main', ['^src/main\\.ts$']],
  ['cli', ['^src/cli/']],
  ['library', ['^src/index\\.ts$']],
  ['app', ['^src/app/']],
  ['http', ['^src/http/']],
  ['api', ['^src/graphql/', `${FEATURE}/api(?:/|\\.ts$)`]],
  [
    'use-cases',
    [
      '^src/core/',
      '^src/features/[^/]+/(?!(?:api|jobs|store)(?:/|\\.ts$))',
      `^parts/(?:${FEATURE_PARTS.join('|')})/src/(?!(?:api|jobs|store)(?:/|\\.ts$)|(?:host|log|metrics|settings)\\.ts$)`,
      '^src/feed/(?:groups|loads|page|session|watch)/',
    ],
  ],
  ['jobs', ['^src/jobs/', `${FEATURE}/jobs/`, '^src/fan-out/[^/]+\\.ts$']],
  ['feed', ['^src/feed/(?:models/|[^/]+\\.ts$)']],
  ['live', ['^src/live/']],
  ['store', ['^src/storage/', `${FEATURE}/store(?:/|\\.ts$)`]],
  ['connections', ['^src/connections/']],
  ['descriptors', ['^src/descriptors/', '^parts/[^/]+/src/host\\.ts$']],
  ['telemetry', ['^src/telemetry/', '^parts/[^/]+/src/(?:log|metrics)\\.ts$']],
  ['config', ['^src/config/', '^parts/[^/]+/src/settings\\.ts$']],
  ['domain', ['^src/domain/']],
  ['lib', ['^src/lib/']],
];
const layer = (name) => LAYERS.find(([one]) => one === name)[1];

const layerRules = LAYERS.slice(1).map(([name, paths], index) => ({
  name: `arrows-point-down-from-${name}`,
  comment: `${name} must not know what stands above it: ${LAYERS.slice(0, index + 1)
    .map(([above]) => above)
    .join(', ')}.`,
  severity: 'error',
  from: { path: paths },
  to: {
    path: LAYERS.slice(0, index + 1).flatMap(([, above]) => above),
  },
}));

/** Packages that belong to one room, so that replacing one is a matter of that room. */
const ROOMS = [
  { packages: ['mongodb', 'bson'], rooms: [...layer('store'), '^src/feed/models/'] },
  { packages: ['ioredis'], rooms: ['^src/connections/'] },
  { packages: ['@nats-io/[^/]+'], rooms: ['^src/connections/'] },
  { packages: ['nodemailer'], rooms: ['^$'] },
  { packages: ['web-push'], rooms: ['^$'] },
  { packages: ['@pothos/[^/]+'], rooms: layer('api') },
  { packages: ['dataloader'], rooms: ['^src/feed/session/'] },
  // The schema is put together of what features and parts bring.
  {
    packages: ['graphql', '@escape\\.tech/[^/]+'],
    // The schema is put together of what features and parts bring to it.
    rooms: [...layer('api'), '^src/http/', '^src/app/(?:in-process|schema)\\.ts$'],
  },
  {
    packages: ['graphql-yoga', '@graphql-yoga/[^/]+', 'ws', 'graphql-jit'],
    rooms: ['^src/http/'],
  },
  // What holds what was read or parsed, within a bound.
  {
    packages: ['lru-cache'],
    rooms: [
      '^src/http/',
      ...layer('store'),
      '^src/descriptors/muted-action\\.ts$',
      '^src/features/ranking/offers\\.ts$',
      '^src/connections/windows\\.ts$',
      '^src/feed/watch/shared-boosts\\.ts$',
      '^src/telemetry/stack-once\\.ts$',
    ],
  },
  { packages: ['graphql-ws'], rooms: ['^src/http/'] },
  { packages: ['jose'], rooms: ['^src/http/', '^src/cli/token\\.ts$'] },
  {
    packages: ['zod'],
    rooms: ['^src/config/', '^src/descriptors/', ...layer('use-cases')],
  },
  { packages: ['@opentelemetry/api'], rooms: ['^src/telemetry/tracing\\.ts$'] },
  { packages: ['@opentelemetry/sdk-node'], rooms: ['^src/cli/telemetry\\.ts$'] },
  { packages: ['pino'], rooms: ['^src/telemetry/logger\\.ts$'] },
  { packages: ['prom-client'], rooms: ['^src/telemetry/metrics\\.ts$'] },
  {
    packages: ['commander', 'cli-progress', 'close-with-grace', 'jiti'],
    rooms: ['^src/cli/', '^src/app/command-shapes\\.ts$'],
  },
];

/** What any feature may import; the layers say which of its files may import what. */
const FEATURE_KIT = [
  '^src/(?:core|descriptors|domain|features|feed|graphql|jobs|lib|storage|telemetry)/',
  '^src/live/live-log\\.ts$',
  '^node_modules/(?:@types/)?(?:mongodb|zod)/',
  '^(?:crypto)$',
];

/** What settings, metrics, log lines, and keys and phrases of the host's configuration are declared with. */
const PART_KIT = [
  '^src/config/(?:config|kinds|part-settings|settings|signed-target)\\.ts$',
  '^src/descriptors/(?:host-parts|registry)\\.ts$',
  '^src/telemetry/(?:events|logger|metrics|stack-once)\\.ts$',
];

const partRules = PARTS.map(({ name, isFeature = false, imports = [] }) => ({
  name: `kit-of-${name}`,
  comment: 'A part of the server knows of the rest what its imports.json lists.',
  severity: 'error',
  from: { path: `^parts/${name}/src/` },
  to: { pathNot: [`^parts/${name}/src/`, ...PART_KIT, ...(isFeature ? FEATURE_KIT : []), ...imports] },
}));

const roomRules = ROOMS.map(({ packages, rooms }) => ({
  name: `room-of-${packages[0].replace(/[^a-z-]/g, '')}`,
  comment: `Only ${rooms.join(', ')} may import ${packages.join(', ')}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: rooms },
  to: { path: `^node_modules/(?:@types/)?(?:${packages.join('|')})/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...layerRules,
    ...roomRules,
    ...partRules,
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one thing or three. Types count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-cycles-between-folders',
      comment: 'What two folders of a room need of each other belongs into one of them or into a third.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/http/[^/]+' },
      to: { circular: true, path: '^src/http/[^/]+' },
    },
    {
      name: 'domain-is-pure',
      comment: 'The rules know nothing of drivers, files or networks.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: '^(?:node:)?crypto$' },
    },
    {
      name: 'lib-has-no-dependencies',
      comment: 'Tiny tools stay tiny.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { dependencyTypes: ['npm'] },
    },
    {
      name: 'packages-stand-alone',
      comment: 'A package that is published knows nothing of the server, nor of another package.',
      severity: 'error',
      from: {
        path: '^packages/([^/]+)/src/',
        pathNot: '^packages/(?:apollo|elements|react|urql)/src/',
      },
      to: { path: '^(?:src|test|bench|schema|packages|parts)/', pathNot: '^packages/$1/src/' },
    },
    {
      name: 'packages-are-entered-by-their-name',
      comment: 'The server uses what a package exports.',
      severity: 'error',
      from: { path: '^(?:src|parts)/' },
      to: { path: '^packages/', pathNot: '^packages/[^/]+/src/index\\.ts$' },
    },
    {
      name: 'parts-are-registered-in-one-place',
      comment: 'Deleting a part of the server is deleting its folder and its line in src/app/parts.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/app/parts\\.ts$' },
      to: { path: '^parts/' },
    },
    {
      name: 'parts-are-entered-by-one-file',
      comment: 'part.ts says all that a part brings; the list imports nothing else of it.',
      severity: 'error',
      from: { path: '^src/app/parts\\.ts$' },
      to: { pathNot: '^parts/[^/]+/part\\.ts$' },
    },
    {
      name: 'part-files-declare',
      comment: 'What part.ts knows of the server is the type of a part.',
      severity: 'error',
      from: { path: '^parts/([^/]+)/part\\.ts$' },
      to: { pathNot: ['^parts/$1/src/', '^src/app/part\\.ts$'] },
    },
    {
      name: 'commands-are-given-the-server',
      comment:
        'src/main.ts gives it to them. So parts may bring commands, and what is put together in src/app may have parts in it.',
      severity: 'error',
      from: { path: '^(?:src/cli|parts/[^/]+/src)/' },
      to: {
        path: '^src/app/',
        pathNot: '^src/app/(?:part|(?:command|fanfare)-shapes)\\.ts$',
      },
    },
    {
      name: 'local-engine-is-loaded-when-needed',
      comment:
        'It need not be installed: only src/connections/local-engine.ts imports more than types of it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/connections/local-engine\\.ts$' },
      to: { path: '^packages/local-engine/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-is-for-browsers',
      comment: 'The client runs in browsers: nothing of Node, no package.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: ['^packages/client/src/'] },
    },
    {
      name: 'react-stands-on-the-client',
      comment: 'The React package runs in browsers: React and what the client exports, nothing else.',
      severity: 'error',
      from: { path: '^packages/react/src/' },
      to: {
        pathNot: [
          '^packages/react/src/',
          '^packages/client/src/(?:index|offline|operations)\\.ts$',
          '^node_modules/(?:@types/)?react/',
        ],
      },
    },
    {
      name: 'elements-stand-on-the-react-package',
      comment: 'The elements are made of what every frontend has, and of nothing else.',
      severity: 'error',
      from: { path: '^packages/elements/src/' },
      to: {
        pathNot: [
          '^packages/elements/src/',
          '^packages/client/src/index\\.ts$',
          '^packages/react/src/(?:index|more)\\.ts$',
          '^packages/react/(?:style|tokens)\\.css$',
          '^node_modules/(?:@types/)?(?:react|react-dom)/',
        ],
      },
    },
    ...[
      ['apollo', '(?:@apollo/client|graphql)'],
      ['urql', '(?:@urql/(?:core|exchange-graphcache)|wonka)'],
    ].map(([name, library]) => ({
      name: `${name}-stands-on-the-client`,
      comment:
        'A package for a cache knows the library and what the client exports for caches, nothing else.',
      severity: 'error',
      from: { path: `^packages/${name}/src/` },
      to: {
        pathNot: [`^packages/${name}/src/`, '^packages/client/src/cache\\.ts$', `^node_modules/${library}/`],
      },
    })),
    {
      name: 'console-stands-on-the-react-package',
      comment:
        'The console is made of what every frontend has: React, the packages by their names, and libraries of parts.',
      severity: 'error',
      from: { path: '^console/src/' },
      to: {
        pathNot: [
          '^console/src/',
          '^packages/(?:client|react)/src/index\\.ts$',
          '^packages/react/style\\.css$',
          '^node_modules/(?:@types/)?(?:react|react-dom|@tanstack/react-virtual|@base-ui/react|lucide-react|uplot|oauth4webapi)/',
        ],
      },
    },
    {
      name: 'nothing-stands-on-the-console',
      comment: 'The server serves its built files.',
      severity: 'error',
      from: { path: '^(?:src|packages)/' },
      to: { path: '^console/' },
    },
    {
      name: 'graphql-touches-no-storage',
      comment: 'The API asks services.',
      severity: 'error',
      from: { path: layer('api') },
      to: {
        path: ['connections', 'store', 'feed', 'live', 'jobs'].flatMap(layer),
      },
    },
    {
      name: 'every-folder-has-a-layer',
      comment: 'A new folder of src/ gets its place in the list at the top of this file.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: LAYERS.flatMap(([, paths]) => paths) },
    },
    {
      name: 'sources-know-no-tests',
      comment: 'What runs in production is in src.',
      severity: 'error',
      from: { path: '^(?:src/|(?:packages|parts)/[^/]+/src/|parts/[^/]+/part\\.ts$)' },
      to: { path: '^(?:test|bench|schema|(?:packages|parts)/[^/]+/test)/' },
    },
    {
      name: 'bench-parts-stand-on-the-harness',
      comment: 'What all measurements use knows none of them.',
      severity: 'error',
      from: { path: '^bench/(?:harness|world|programs)/' },
      to: { path: '^bench/(?:main\\.ts$|parts/)' },
    },
    {
      name: 'bench-is-an-end',
      comment: 'Nothing depends on the measurements but those of a part.',
      severity: 'error',
      from: { pathNot: '^(?:bench|parts/[^/]+/measure)/' },
      to: { path: '^bench/' },
    },
    {
      name: 'no-development-packages-in-sources',
      comment:
        'The image is built without them. The SDK of telemetry is an optional peer, loaded when asked for.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/telemetry\\.ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'everything-resolves',
      comment:
        'An import that leads nowhere is checked by no other rule. Generated types come from a package of types; what the ' +
        'benchmark measures Fanfare beside is installed when it runs; and a configuration is read as a host has it.',
      severity: 'error',
      from: {
        pathNot: [
          '^test/support/generated/',
          '^bench/(?:peer|usual)/',
          '^packages/react/test/own-types/fanfare\\.config\\.mjs$',
        ],
      },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: ['^dist/', '^console/dist/', '^packages/[^/]+/dist/', '^bench/(?:peer/|usual/)?node_modules/'],
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};

/** What runs a command that the pages show, or why nothing here can. Each that a page shows has to be in one of these lists. */
export interface Answer {
  /** A file that runs it; a test of what it does, where nothing runs it as it is written. */
  readonly by?: string;
  /** Why it cannot run here. */
  readonly because?: string;
  /** One that ends with ` …` stands for all that begin so. */
  readonly commands: readonly string[];
}

/** Run word for word, from a registry, by scripts/release-dry.js. */
export const DONE_WORD_FOR_WORD: readonly string[] = [
  'npm install @fanfare/server @fanfare/local-engine',
  'npx @fanfare/server serve',
  `curl -s http://127.0.0.1:4000/graphql -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"query":"{ feed { edges { node { action { descriptor { summary } } } } } }"}'`,
  `curl -sN http://127.0.0.1:4000/graphql -H "authorization: Bearer $TOKEN" -H 'accept: text/event-stream' -H 'content-type: application/json' -d '{"query":"subscription { feedEvents { __typename cursor ... on FeedItemAdded { item { action { descriptor { summary } } } } } }"}'`,
  'npx @fanfare/server demo',
  'npx @fanfare/server import --members members.ndjson --refs refs.ndjson.gz --follows follows.ndjson --actions actions.ndjson.gz',
  'npx @fanfare/server init my-feed',
  'cd my-feed',
  'npm install',
  'npm start',
  'npm run example',
  'npm run schema',
  'npm run types',
  'npm test',
  'node run.mjs',
  'npx @fanfare/server schema',
  'npm init -y && npm pkg set type=module',
  'npm install @fanfare/server @fanfare/local-engine @fanfare/react react react-dom vite',
  'npx vite',
  'npm install @fanfare/server @fanfare/local-engine @fanfare/client @fanfare/react react react-dom vite',
  'VITE_TOKEN="$TOKEN" npx vite',
  String.raw`curl -s http://127.0.0.1:4000/graphql -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"query":"mutation { publishAction(input: { actorId: \"john\", mentions: [\"demo\"], descriptor: { posted: { postId: \"hello\", postTitle: \"Hello\" } } }) { action { id } } }"}'`,
  String.raw`curl -s http://127.0.0.1:4000/graphql -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '{"query":"mutation { publishAction(input: { actorId: \"john\", mentions: [\"demo\"], descriptor: { recipeCooked: { recipeId: \"soup\", recipeName: \"Soup\", withId: \"demo\", withName: \"Demo\", rating: 4 } } }) { action { id } } }"}'`,
  'npm install @fanfare/client',
  'npm install @fanfare/client @fanfare/react',
  'npm install @fanfare/apollo @fanfare/client @apollo/client graphql rxjs',
  'npm install @fanfare/elements',
  'npm install @fanfare/urql @fanfare/client @urql/core @urql/exchange-graphcache',
];

export const ANSWERS: readonly Answer[] = [
  { by: 'test/processes/registry.test.ts', commands: ['npm run registry'] },
  { by: 'test/processes/release.test.ts', commands: [...DONE_WORD_FOR_WORD, 'npm run release:dry'] },
  {
    because:
      'It needs a mail server of another product; `parts/mail/test/e2e/mail.test.ts` has one of its own.',
    commands: ['docker run -d -p 1025:1025 -p 8025:8025 axllent/mailpit', 'MAIL_URL=smtp://localhost:1025 …'],
  },
  {
    by: '.ci/run',
    commands: [
      ...[
        'npm ci',
        'npm ci && npm test',
        'npm run lint',
        'npm run format:check',
        'npm run arch',
        'npm run house',
        'npm run knip',
      ],
      ...['npm run docs:build', 'npm run bench:smoke', 'npm run test:rest', 'npx vitest run --project unit'],
      ...['npx vitest run test/e2e/story.test.ts', 'npx vitest run test/e2e/auth.test.ts'],
      "npx vitest run -t 'words of its name'",
    ],
  },
  {
    by: 'parts/ingest/test/processes/ingest-clients.test.ts',
    commands: [
      'curl -sS -X POST -T actions.ndjson -H "authorization: Bearer $TOKEN" http://127.0.0.1:4000/ingest',
    ],
  },
  {
    by: 'parts/consume/test/fault/consume-kills.test.ts',
    commands: [
      'fanfare consume',
      'fanfare consume redis://127.0.0.1:6379/actions',
      'fanfare consume nats://127.0.0.1:4222/ACTIONS',
    ],
  },
  {
    because: 'It needs a program of another product; a test puts the same messages on the same streams.',
    commands: ['redis-cli XADD …', 'nats pub …'],
  },
  {
    because: 'It needs a program of another product; a test asks the same of the server.',
    commands: ['rover subgraph introspect …'],
  },
  {
    because: 'These packages are among those of development, at the versions that are tested.',
    commands: [
      'npm install @pothos/plugin-federation@4 @pothos/plugin-directives@4 @apollo/subgraph@2',
      'docker build --build-arg FEDERATION=on',
    ],
  },
  {
    because:
      'It needs a phone, or what stands for one; `test/browser/react-native-browser.test.ts` runs such an app in a browser.',
    commands: ['npx expo install @react-native-community/netinfo react-native-get-random-values'],
  },
  { by: 'parts/mcp/test/processes/mcp-stdio.test.ts', commands: ['fanfare mcp'] },
  {
    by: 'parts/syndication/test/e2e/syndication.test.ts',
    commands: ['SYNDICATION=on', 'PUBLIC_URL=https://feed.example'],
  },
  { by: 'test/processes/cli-import.test.ts', commands: ['fanfare import'] },
  { by: '.github/workflows/ci.yml', commands: ['.ci/run'] },
  { by: '.github/workflows/servers.yml', commands: ['npm run test:servers'] },
  { by: '.github/workflows/deep.yml', commands: ['npm run test:deep', 'npm run test:deep -- chaos'] },
  { by: '.github/workflows/images.yml', commands: ['node scripts/pin-images.js'] },
  { by: 'test/browser/newcomer-browser.test.ts', commands: ['npm ci && npm start'] },
  { by: 'test/browser/react-browser.test.ts', commands: ['npx vite examples/react'] },
  { by: 'test/browser/elements-browser.test.ts', commands: ['npx vite examples/elements'] },
  { by: 'test/browser/recipes-browser.test.ts', commands: ['npx vite examples/recipes'] },
  { by: 'test/browser/demo-browser.test.ts', commands: ['npx fanfare demo'] },
  {
    by: 'test/alone/own-types-of-frontends.test.ts',
    commands: [
      'npx @fanfare/server schema --types src/fanfare.d.ts',
      'fanfare schema --types src/fanfare.d.ts',
    ],
  },
  { by: 'test/processes/build.test.ts', commands: ['npm run build', 'npm run dev'] },
  {
    by: 'test/processes/cli-usage.test.ts',
    commands: ['npx @fanfare/server doctor --settings', 'npx fanfare serve', 'fanfare serve'],
  },
  {
    by: 'test/processes/cli-serve.test.ts',
    commands: ['fanfare doctor', 'npx fanfare doctor', 'npx @fanfare/server doctor', 'fanfare schema'],
  },
  {
    by: 'test/processes/cli-processes.test.ts',
    commands: ['npx fanfare serve --no-worker', 'fanfare worker'],
  },
  {
    by: 'test/processes/cli-import.test.ts',
    commands: [
      'npx fanfare import …',
      'npx @fanfare/server import',
      'npx @fanfare/server import --format …',
      'fanfare import --format …',
    ],
  },
  {
    by: 'test/processes/cli-export.test.ts',
    commands: ['npx fanfare export --member u1', 'fanfare export --member <id> [--out <file>]'],
  },
  {
    by: 'test/processes/cli-rebuild.test.ts',
    commands: ['fanfare rebuild', 'npx fanfare rebuild', 'npx @fanfare/server rebuild'],
  },
  {
    by: 'test/integration/each-model/offload.test.ts',
    commands: [
      ...['fanfare offload', 'fanfare offload --before 2025-01-01 --to 2024.ndjson.gz'],
      ...['fanfare restore', 'fanfare restore 2024.ndjson.gz'],
    ],
  },
  {
    by: 'parts/sharding/test/e2e/cli-shard.test.ts',
    commands: [
      ...['fanfare shard', 'npx @fanfare/server shard', 'npx @fanfare/server shard --status'],
      'npx @fanfare/server shard --run',
    ],
  },
  {
    by: 'parts/planner/test/unit/plan.test.ts',
    commands: [
      ...['fanfare plan', 'npx fanfare plan --members 10M', 'npx @fanfare/server plan --members 10M'],
      'npx @fanfare/server plan --members 10M --actions 5M --reads 60M --threshold 100k --model capped --json',
      'npx @fanfare/server plan --members 10M --costs bench/results/unit-costs.json',
      'npx @fanfare/server plan --members 10M --html plan.html',
    ],
  },
  {
    by: 'test/alone/tenant-commands.test.ts',
    commands: [
      ...[
        'fanfare tenant adopt',
        'fanfare tenant erase',
        'fanfare tenant list',
        'npx @fanfare/server tenant adopt acme',
        'npx @fanfare/server tenant list',
      ],
      ...[
        'npx @fanfare/server tenant erase acme --yes',
        'npx @fanfare/server tenant export acme --out acme.ndjson.gz',
      ],
    ],
  },
  {
    by: 'test/unit/cli/token.test.ts',
    commands: [
      'npx fanfare token --sub u1 --roles service',
      'fanfare token --sub root --roles operator,admin',
    ],
  },
  {
    by: 'test/alone/tenants.test.ts',
    commands: [
      'TENANT_CLAIM=tenant npx @fanfare/server serve',
      'TENANT_CLAIM=tenant npx @fanfare/server token --sub ann --tenant acme',
    ],
  },
  {
    by: 'packages/local-engine/test/processes/gateway-process.test.ts',
    commands: [
      `PGPASSWORD=… node --import tsx packages/local-engine/src/gateway/main.ts '{"postgres":{"host":"/data","port":5432,"user":"fanfare","database":"postgres"},"socket":"/run/mongodb.sock","poolSize":24}'`,
    ],
  },
  { by: 'scripts/release-dry.js', commands: ['npx @fanfare/server init', 'npx fanfare init ../feed'] },
  { by: 'test/unit/compose.test.ts', commands: ['cp .env.example .env'] },
  { by: 'test/unit/version.test.ts', commands: ['npm run version'] },
  {
    by: 'test/fault/webhook-kills.test.ts',
    commands: ['FANFARE_KILLS=50 npx vitest run test/fault/webhook-kills.test.ts'],
  },
  {
    // The command says on the terminal what the test asserts.
    by: 'test/simulation/simulation.test.ts',
    commands: ['npm run -s simulate -- …'],
  },
  { because: 'it takes hours', commands: ['npm run -s mutations -- 200'] },
  { by: 'test/unit/cli/settings-table.test.ts', commands: ['npm run settings'] },
  { by: 'test/unit/storage/declarations.test.ts', commands: ['npm run collections'] },
  { by: 'parts/planner/test/large/scale.test.ts', commands: ['npm run scale'] },
  {
    because: 'it runs everything once more, and what it consists of is run by .ci/run',
    commands: ['npm run test:all', 'npm run schema && npm run codegen', 'npm run codegen'],
  },
  {
    because: 'it needs Docker; test/unit/compose.test.ts reads the file',
    commands: ['docker compose up', 'docker compose up --build -d'],
  },
  {
    because: 'It needs a program of the machine, and prints a secret that is another one each time.',
    commands: ['openssl rand -base64 48', 'openssl rand -hex 24'],
  },
  {
    because: 'it needs a cluster; test/unit/deploy.test.ts reads the files',
    commands: ['kubectl set image', 'kubectl rollout undo'],
  },
  {
    because: 'it needs other servers',
    commands: [
      'FANFARE_TEST_MONGODB_URI=mongodb://… FANFARE_TEST_REDIS_URL=redis://… npm test',
      'FANFARE_TEST_MONGODB_URI=… npm test',
    ],
  },
  { because: 'it is the program of another project', commands: ['npx web-push generate-vapid-keys'] },
  {
    because: 'it goes on until it is stopped; docs:build makes the same pages',
    commands: ['npm run docs:dev'],
  },
  {
    because: 'it writes the pictures of the pages; the tests in test/browser see the same screens',
    commands: ['npm run pictures'],
  },
  {
    because: 'it measures, which takes a machine of its own; bench:smoke runs one part of each kind',
    commands: [
      ...['npm run bench', 'npm run bench -- …', 'node scripts/first-feed.js'],
      'node scripts/busy.js 8 -- npm test',
    ],
  },
];

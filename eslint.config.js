// Rules that need no types, of this project's own: its words, its clock, its environment. What goes by types, and all
// that is common to projects in TypeScript, is in .oxlintrc.json: the whole of it there takes a tenth of the time.
import markdown from '@eslint/markdown';
import tseslint from 'typescript-eslint';
import { plainWords } from './scripts/plain-words.js';

const words = { rules: { plain: plainWords } };

const TESTS = ['test/**', '{packages,parts}/*/test/**'];

const NO_MACHINE_CLOCK = [
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "CallExpression[callee.object.name='Date'][callee.property.name='now']",
].map((selector) => ({ selector, message: 'Use the clock of lib/clock.ts: the clocks of machines differ.' }));

/** Where the time of day is meant: of tokens, of files, and what people are shown. */
const TIME_OF_DAY = [
  'src/lib/clock.ts',
  'src/http/identity/{auth,tickets}.ts',
  'src/http/limits/deadline.ts',
  'src/cli/{api-client,runtime,token}.ts',
  'packages/local-engine/src/process/file-lock.ts',
  'packages/client/src/offline/lists.ts',
  'packages/client/src/offline/outbox.ts',
  'packages/react/src/hooks/relative-time.ts',
  'console/src/screens/types.tsx',
];
const NO_CLOCK_AS_TIMER = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: "Use performance.now() for what has passed: the machine's clock may be set.",
  },
];

/** A write of an action says whether what is held of it may still be shown: see src/storage/stages/revision.ts. */
const ACTION_WRITERS = [
  '{src,parts/*/src}/**/{store,storage}/**/{member-traces,actions,anonymise-actions,edits,fan-outs,fan-out-ends,moderation,offloads,renames,scheduled}.ts',
];
const NO_UNREVISED_WRITE = [
  ...['actions', 'collection'].map(
    (name) =>
      `CallExpression[callee.object.name='${name}'][callee.property.name=/^(updateOne|updateMany|findOneAndUpdate)$/]:not([arguments.1.callee.name=/^(un)?revised$/])`,
  ),
  ...['actions', 'collection'].flatMap((name) => [
    `CallExpression[callee.object.name='${name}'][callee.property.name=/^(replaceOne|findOneAndReplace)$/]`,
    `CallExpression[callee.object.name='${name}'][callee.property.name='bulkWrite']:not(:has(CallExpression[callee.name=/^(un)?revised$/]))`,
  ]),
].map((selector) => ({ selector, message: 'Wrap the update of actions in revised() or unrevised().' }));

/** A busy page is given several observations of one element at once: the first of them is out of date. */
const NO_FIRST_OBSERVATION = [
  {
    selector: 'NewExpression[callee.name=/Observer$/] > :function > ArrayPattern',
    message: 'Take the last observation of an element, entries.at(-1).',
  },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'docs/.vitepress/cache/',
      'coverage/',
      '**/generated/',
      '**/__generated__/',
      'templates/**/*.ts',
    ],
  },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: {
      'no-restricted-exports': [
        'error',
        { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } },
      ],
    },
  },
  // The words of the project: docs/glossary.md.
  {
    files: ['**/*.{ts,tsx}'],
    ignores: ['test/unit/plain-words.test.ts'],
    plugins: { words },
    rules: { 'words/plain': 'error' },
  },
  {
    files: ['**/*.md'],
    // Written by the benchmark, from results of its last run.
    ignores: ['bench/RESULTS.md'],
    plugins: { markdown, words },
    language: 'markdown/gfm',
    rules: { 'words/plain': 'error' },
  },
  {
    files: ['src/**', '{packages,parts}/*/src/**', 'console/src/**'],
    ignores: TIME_OF_DAY,
    rules: { 'no-restricted-syntax': ['error', ...NO_CLOCK_AS_TIMER, ...NO_FIRST_OBSERVATION] },
  },
  // What processes compare goes by the database's clock.
  {
    files: ['src/{app,features,feed,fan-out,jobs,live,storage,connections}/**', 'parts/*/src/**'],
    rules: { 'no-restricted-syntax': ['error', ...NO_MACHINE_CLOCK] },
  },
  {
    files: ACTION_WRITERS,
    rules: { 'no-restricted-syntax': ['error', ...NO_MACHINE_CLOCK, ...NO_UNREVISED_WRITE] },
  },
  // A loop that appends would end at the first part of the live log that does not answer.
  {
    files: ['src/**', 'parts/*/src/**'],
    ignores: ['src/live/**', 'src/feed/announce.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'liveLog',
          property: 'append',
          message: 'Use announce of feed/announce.ts, which goes on when a part of the log does not answer.',
        },
      ],
    },
  },
  // Files are written so that no link leads them elsewhere, and secrets read where nobody else can have put them.
  {
    files: ['src/**', 'packages/local-engine/src/**', 'parts/*/src/**'],
    // A lock makes its own file; the others fill a folder that they have just made.
    ignores: [
      '**/own-file.ts',
      'parts/*/src/init.ts',
      'packages/local-engine/src/process/file-lock.ts',
      'packages/local-engine/src/tree/**',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        ...['node:fs', 'node:fs/promises'].map((name) => ({
          name,
          importNames: ['appendFile', 'appendFileSync', 'createWriteStream', 'writeFile', 'writeFileSync'],
          message: 'Write files by lib/own-file.ts, in the local engine by process/own-file.ts.',
        })),
      ],
    },
  },
  // One seed for all random suites: only this file knows the library that reads it.
  {
    files: TESTS,
    ignores: ['test/support/fast-check.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: 'fast-check',
          message: 'Import { fc } from test/support/fast-check.ts, which sets the seed.',
        },
      ],
    },
  },
  // Puppeteer's own way loses to a page that draws the field meanwhile.
  {
    files: TESTS,
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.property.name='fill'][callee.object.callee.property.name='locator']",
          message: 'Use fillIn of test/support/browser.ts, which fills a field in one event.',
        },
      ],
    },
  },
  // Tools want what they load as the default export.
  {
    files: [
      '*.ts',
      'console/vite.config.ts',
      'docs/.vitepress/{config,theme/index}.ts',
      'docs/api/*.paths.ts',
      'console/src/css.d.ts',
      'examples/react/vite.config.ts',
      'examples/recipes/*.config.ts',
      'packages/elements/src/texts.d.ts',
      'test/support/global-setup.ts',
    ],
    rules: { 'no-restricted-exports': 'off' },
  },
);

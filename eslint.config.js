import markdown from '@eslint/markdown';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { plainWords } from './scripts/plain-words.js';

const words = { rules: { plain: plainWords } };

const TESTS = ['test/**', 'packages/*/test/**'];

const NO_ENVIRONMENT = {
  object: 'process',
  property: 'env',
  message: 'Only src/config/env.ts reads the environment; take what you need from Config.',
};

const NO_MACHINE_CLOCK = [
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "CallExpression[callee.object.name='Date'][callee.property.name='now']",
].map((selector) => ({ selector, message: 'Use the clock of lib/clock.ts: the clocks of machines differ.' }));

/** A write of an action says whether what is held of it may still be shown: see src/storage/revision.ts. */
const ACTION_WRITERS = [
  'src/storage/{actions,anonymise-actions,edits,fan-outs,fan-out-ends,member-traces,moderation,offloads,renames}.ts',
];
const NO_UNREVISED_WRITE = [
  ...['actions', 'collection'].map(
    (name) =>
      `CallExpression[callee.object.name='${name}'][callee.property.name=/^(updateOne|updateMany|findOneAndUpdate)$/]:not([arguments.1.callee.name=/^(un)?revised$/])`,
  ),
  ...['actions', 'collection'].flatMap((name) => [
    `CallExpression[callee.object.name='${name}'][callee.property.name=/^(replaceOne|findOneAndReplace)$/]`,
    `CallExpression[callee.object.name='${name}'][callee.property.name='bulkWrite']:not(:has(CallExpression[callee.name='revised']))`,
  ]),
].map((selector) => ({ selector, message: 'Wrap the update of actions in revised() or unrevised().' }));

export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', '**/generated/', '**/__generated__/'] },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // An index signature is read with brackets: the compiler asks for it (noPropertyAccessFromIndexSignature).
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
      'no-restricted-properties': ['error', NO_ENVIRONMENT],
      'no-restricted-exports': [
        'error',
        { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } },
      ],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  // Memos go by keys that say all their options say, which the rule of exhaustive dependencies cannot see.
  {
    files: ['packages/react/src/**', 'console/src/**'],
    plugins: { 'react-hooks': reactHooks },
    rules: { 'react-hooks/rules-of-hooks': 'error' },
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
  // What may read the environment: the configuration, and processes of their own that are handed a secret by it.
  {
    files: ['src/config/env.ts', 'packages/local-engine/src/gateway/main.ts', ...TESTS, 'bench/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  // What processes compare goes by the database's clock. The live log in memory belongs to one process.
  {
    files: ['src/{app,services,workers,feeds,storage,connections,realtime}/**'],
    ignores: ['src/realtime/memory-live-log.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NO_MACHINE_CLOCK] },
  },
  {
    files: ACTION_WRITERS,
    rules: { 'no-restricted-syntax': ['error', ...NO_MACHINE_CLOCK, ...NO_UNREVISED_WRITE] },
  },
  // Matchers such as expect.any() are `any` on purpose.
  {
    files: TESTS,
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // What tests take apart are objects of closures, which have no `this`.
      '@typescript-eslint/unbound-method': 'off',
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
  // The keeper of the embedded services has no other voice: its output is its log.
  {
    files: ['packages/local-engine/src/keeper.ts', ...TESTS, 'bench/**', 'schema/**'],
    rules: { 'no-console': 'off' },
  },
  // The rule does not end where a visitor of documents is passed on, whose types hold themselves.
  {
    files: ['src/http/shared-parts/split.ts'],
    rules: { '@typescript-eslint/no-unsafe-class-instance-assignment': 'off' },
  },
  // Tools want what they load as the default export.
  {
    files: [
      '*.ts',
      'console/vite.config.ts',
      'examples/react/vite.config.ts',
      'test/support/global-setup.ts',
    ],
    rules: { 'no-restricted-exports': 'off' },
  },
);

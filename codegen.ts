import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types for the documents that tests write with `graphql(…)`. Run after a change of either: `npm run codegen`. */
const config: CodegenConfig = {
  schema: 'schema/schema.graphql',
  documents: ['test/e2e/**/*.ts'],
  generates: {
    'test/support/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        onlyOperationTypes: true,
        importExtension: '.ts',
        enumsAsTypes: true,
        useTypeImports: true,
        strictScalars: true,
        scalars: { DateTime: 'string', JSON: 'unknown' },
      },
      plugins: [],
    },
  },
};

export default config;

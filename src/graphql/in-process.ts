// What a server answers the process it runs in, loaded as one.

export { printedSchema } from './printed-schema.ts';
export { runOperation } from './run-operation.ts';
export { buildSchema } from './schema.ts';
export { sentenceOfAction } from './sentence-of-action.ts';

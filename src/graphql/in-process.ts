// Everything a server needs to answer its own process, loaded as one module.

export { printedSchema } from './printed-schema.ts';
export { runOperation } from './run-operation.ts';
export { buildSchema } from './schema.ts';
export { sentenceOfAction } from './sentence-of-action.ts';

// The server as commands get it: `Composed`.

export { allIndexes, COLLECTIONS as collections, connectDatabase } from './collections.ts';
export { createServer } from './fanfare.ts';

/** Loaded when it is needed: GraphQL makes up most of a process's start-up time. */
export async function printedSchema(): Promise<string> {
  return (await import('./in-process.ts')).printedSchema();
}

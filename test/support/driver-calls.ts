import type { Document } from 'mongodb';
import type { RecordedCommand } from './commands.ts';

type Args = readonly unknown[];

/** As the driver sends what these methods of a collection are asked for. Null: they read and write no documents. */
export function commandOfCall(collection: string, method: string, args: Args): RecordedCommand | null {
  const make = COMMANDS[method];
  return make === undefined ? null : { collection, ...make(args) };
}

type Command = Omit<RecordedCommand, 'collection'>;

const COMMANDS: Readonly<Record<string, (args: Args) => Command>> = {
  find: ([filter]) => ({ name: 'find', command: { filter } }),
  findOne: ([filter]) => ({ name: 'find', command: { filter } }),
  countDocuments: ([filter]) => ({ name: 'count', command: { query: filter } }),
  distinct: ([, filter]) => ({ name: 'distinct', command: { query: filter } }),
  aggregate: ([pipeline]) => ({ name: 'aggregate', command: { pipeline } }),
  insertOne: () => ({ name: 'insert', command: {} }),
  insertMany: () => ({ name: 'insert', command: {} }),
  updateOne: (args) => update([updateOf(args, false)]),
  updateMany: (args) => update([updateOf(args, true)]),
  replaceOne: (args) => update([updateOf(args, false)]),
  deleteOne: ([q]) => remove([{ q, limit: 1 }]),
  deleteMany: ([q]) => remove([{ q, limit: 0 }]),
  findOneAndUpdate: ([query, u]) => ({ name: 'findAndModify', command: { query, update: u } }),
  findOneAndReplace: ([query, u]) => ({ name: 'findAndModify', command: { query, update: u } }),
  findOneAndDelete: ([query]) => ({ name: 'findAndModify', command: { query } }),
};

/** The methods that are looked at; `bulkWrite` is several. */
export const METHODS: readonly string[] = [...Object.keys(COMMANDS), 'bulkWrite'];

/** What a bulk write comes to. */
export function commandsOfBulk(collection: string, [operations]: Args): RecordedCommand[] {
  return (operations as readonly Document[]).flatMap((operation) =>
    Object.entries(operation).flatMap(([method, asked]) => {
      const { document, filter, update: u, replacement, ...options } = asked as Document;
      const command = commandOfCall(
        collection,
        method,
        document === undefined ? [filter, u ?? replacement, options] : [document],
      );
      return command === null ? [] : [command];
    }),
  );
}

function update(updates: readonly Document[]): Command {
  return { name: 'update', command: { updates } };
}

function remove(deletes: readonly Document[]): Command {
  return { name: 'delete', command: { deletes } };
}

function updateOf([q, u, options]: Args, multi: boolean): Document {
  return { q, u, multi, upsert: (options as Document | undefined)?.['upsert'] };
}

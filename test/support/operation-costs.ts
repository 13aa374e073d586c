import type { CommandFailedEvent, CommandStartedEvent, CommandSucceededEvent, Document } from 'mongodb';
import { BSON } from 'mongodb';
import type { Database } from '../../src/storage/database/mongo.ts';

/** What an operation did at the database. */
export interface OperationCosts {
  readonly commands: number;
  /** The most commands that were under way at a time. */
  readonly atOnce: number;
  /** That the database gave. */
  readonly documents: number;
  readonly bytes: number;
  /** Of the whole process, in milliseconds: shown, never compared. */
  readonly cpuMs: number;
}

/** By the clock, each process says there that it runs. */
const PRESENCE = 'processes';

/** What the driver does while the work runs. The database must be opened with `monitorCommands`. */
export async function costsOf(database: Database, work: () => Promise<unknown>): Promise<OperationCosts> {
  const { client } = database.db;
  const open = new Set<number>();
  const costs = { commands: 0, atOnce: 0, documents: 0, bytes: 0 };
  const started = ({ requestId, command, commandName }: CommandStartedEvent): void => {
    if (command[commandName] === PRESENCE) return;
    open.add(requestId);
    costs.commands += 1;
    costs.atOnce = Math.max(costs.atOnce, open.size);
  };
  const succeeded = ({ requestId, reply }: CommandSucceededEvent): void => {
    if (!open.delete(requestId)) return;
    const { cursor } = reply as { cursor?: { firstBatch?: Document[]; nextBatch?: Document[] } };
    const found = cursor?.firstBatch ?? cursor?.nextBatch ?? [];
    costs.documents += found.length;
    costs.bytes += found.reduce(
      (sum, one) => sum + (Buffer.isBuffer(one) ? one.length : BSON.calculateObjectSize(one)),
      0,
    );
  };
  const failed = ({ requestId }: CommandFailedEvent): void => void open.delete(requestId);
  client.on('commandStarted', started).on('commandSucceeded', succeeded).on('commandFailed', failed);
  const before = process.cpuUsage();
  try {
    await work();
  } finally {
    client.off('commandStarted', started).off('commandSucceeded', succeeded).off('commandFailed', failed);
  }
  const { user, system } = process.cpuUsage(before);
  return { ...costs, cpuMs: (user + system) / 1_000 };
}

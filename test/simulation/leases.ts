import type { Document } from 'mongodb';
import { EPOCH } from './machine.ts';
import type { OnPut } from './memory-server.ts';
import type { Scheduler } from './scheduler.ts';

/** A lease as it is stored: who has it, and until when. */
interface Held {
  readonly owner: string;
  readonly until: number;
}

interface Watched {
  readonly scheduler: Scheduler;
  /** By which processes may be wrong about the time. */
  readonly slackMs: number;
  /** The process whose command is carried out. */
  readonly writer: () => string;
}

/** Watches each write: nobody takes a lease, or ends it, that another has and that has not run out. */
export function leasesWatched({ scheduler, slackMs, writer }: Watched, fault: (what: string) => void): OnPut {
  /** Who wrote an owner first. */
  const holders = new Map<string, string>();
  return (collection, document, before) => {
    if (document === null) return;
    const held = leasesOf(document);
    for (const { owner } of held.values()) if (!holders.has(owner)) holders.set(owner, writer());
    for (const [name, was] of before === null ? [] : leasesOf(before)) {
      const is = held.get(name);
      const leftMs = was.until - (EPOCH + scheduler.time);
      const by = writer();
      const isAsItWas = is?.owner === was.owner && (is.until === was.until || holders.get(is.owner) === by);
      if (isAsItWas || leftMs <= slackMs) continue;
      // Who has served a whole audience says so, even when another has it now.
      if (is === undefined && (holders.get(was.owner) === by || isDone(document, name))) continue;
      const what = `${name} of ${collection} ${JSON.stringify(document['_id'])}`;
      const how =
        is === undefined || is.owner === was.owner ? `${by} changes that of` : `${is.owner} takes it from`;
      fault(`${what}: ${how} ${was.owner}, ${leftMs.toFixed(0)} ms before it has run out`);
    }
  };
}

function isDone(document: Document, name: string): boolean {
  return (document[name] as Document | undefined)?.['state'] === 'DONE';
}

function leasesOf(document: Document): Map<string, Held> {
  const held = new Map<string, Held>();
  for (const [name, value] of Object.entries(document)) {
    if (typeof value !== 'object' || value === null || value instanceof Date || Array.isArray(value))
      continue;
    const { worker, leaseUntil, state, owner, due } = value as Document;
    if (typeof worker === 'string' && leaseUntil instanceof Date && state === 'IN_PROGRESS')
      held.set(name, { owner: worker, until: leaseUntil.getTime() });
    if (typeof owner === 'string' && due instanceof Date) held.set(name, { owner, until: due.getTime() });
  }
  return held;
}

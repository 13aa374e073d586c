import type { Document } from 'mongodb';
import { EPOCH } from './machine.ts';
import type { OnPut } from './memory-server.ts';
import type { Scheduler } from './scheduler.ts';

/** A lease as it is stored: who has it, and until when. */
interface Held {
  readonly owner: string;
  readonly until: number;
}

/**
 * Watches each write: nobody takes a lease that another has and that has not run out.
 * @param slackMs by which processes may be wrong about the time
 */
export function leasesWatched(scheduler: Scheduler, slackMs: number, fault: (what: string) => void): OnPut {
  return (collection, document, before) => {
    if (before === null || document === null) return;
    for (const [name, was] of leasesOf(before)) {
      const is = leasesOf(document).get(name);
      const leftMs = was.until - (EPOCH + scheduler.time);
      if (is === undefined || is.owner === was.owner || leftMs <= slackMs) continue;
      const what = `${name} of ${collection} ${JSON.stringify(document['_id'])}`;
      fault(`${what}: ${is.owner} takes it from ${was.owner}, ${leftMs.toFixed(0)} ms before it has run out`);
    }
  };
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

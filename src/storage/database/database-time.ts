import { ObjectId, type MongoClient, type ServerHeartbeatSucceededEvent } from 'mongodb';
import type { Clock } from '../../lib/clock.ts';

/**
 * Keeps the clock by the time of the database. The driver asks every server every ten seconds how it is, and the answer
 * says what time it is there: this costs no command of its own. Of a replica set the primary counts, which writes go to.
 */
export function keepTime(client: MongoClient, clock: Pick<Clock, 'observe'>): void {
  client.on('serverHeartbeatSucceeded', ({ reply, duration, awaited }: ServerHeartbeatSucceededEvent) => {
    const at = performance.now();
    const localTime: unknown = reply['localTime'];
    const isPrimary = reply['isWritablePrimary'] === true || reply['ismaster'] === true;
    if (!(localTime instanceof Date) || !isPrimary) return;
    // An awaited answer was held back until now; how long its way took is not known, only that it was one way.
    const oneWay = awaited ? 0 : duration / 2;
    clock.observe({ time: localTime.getTime() + oneWay, at, uncertainty: awaited ? AWAITED_MS : oneWay });
  });
}

/** How far off an awaited answer may be. */
const AWAITED_MS = 50;

/** A fresh id that begins with a time by the database's clock. For documents that are looked up by the age in their ids. */
export function idOfTime(time: Date): ObjectId {
  return new ObjectId(ObjectId.generate(Math.floor(time.getTime() / 1_000)));
}

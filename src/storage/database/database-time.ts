import { ObjectId, type MongoClient, type ServerHeartbeatSucceededEvent } from 'mongodb';
import type { Clock } from '../../lib/clock.ts';

/**
 * Synchronises the clock with the database. The driver sends each server a heartbeat every two seconds, and the reply
 * contains the server's time, so this needs no extra command. In a replica set the primary counts, since it takes the
 * writes.
 */
export function keepTime(client: MongoClient, clock: Clock): void {
  client.on('serverHeartbeatSucceeded', ({ reply, duration, awaited }: ServerHeartbeatSucceededEvent) => {
    const at = performance.now();
    const localTime: unknown = reply['localTime'];
    const isPrimary = reply['isWritablePrimary'] === true || reply['ismaster'] === true;
    if (!(localTime instanceof Date) || !isPrimary) return;
    // An awaited heartbeat was held back by the server: its latency is unknown, but it travelled only one way.
    const oneWay = awaited ? 0 : duration / 2;
    clock.observe({ time: localTime.getTime() + oneWay, at, uncertainty: awaited ? AWAITED_MS : oneWay });
  });
}

/** Assumed uncertainty of an awaited heartbeat. */
const AWAITED_MS = 50;

/** A new id that starts with a time of the database's clock, for documents found by the age in their ids. */
export function idOfTime(time: Date): ObjectId {
  return new ObjectId(ObjectId.generate(Math.floor(time.getTime() / 1_000)));
}

import type { ObjectId } from 'mongodb';
import type { HostEventFacts, HostEventType } from '../../domain/host-event.ts';

/** An event that stands in the document it tells of, written with the change itself, until it has been moved. */
export interface UnsentEventDocument {
  /** With the document it names the event. */
  token: ObjectId;
  type: HostEventType;
  at: Date;
}

/** What a document has whose changes are events for hosts. */
export interface UnsentEvents {
  /** In the order they happened in. Absent: none. */
  unsent?: UnsentEventDocument[];
  /** The time of the earliest of them. */
  unsentAt?: Date;
}

/** An event that no other document can carry. */
export interface OutboxDocument {
  _id: string;
  type: HostEventType;
  at: Date;
  unsentAt: Date;
  facts: HostEventFacts;
}

export interface HostEventDocument {
  _id: string;
  /** No event is there before the one with the number below it. */
  seq: number;
  type: HostEventType;
  at: Date;
  /** Absent where tenants are off. */
  tenant?: string;
  storedAt: Date;
  facts: HostEventFacts;
  /** Who is named in the facts, but for the readers. */
  memberIds?: string[];
}

/** How far the moving of events has come. One document. */
export interface EventStateDocument {
  _id: 'events';
  /** Events up to and with this number are not kept any more. */
  deletedUpTo?: number;
  worker?: string;
  leaseUntil?: Date;
}

import type { Beside } from '../../domain/stored-id.ts';
import type { LeaseDocument } from './lease-document.ts';
import type { ObjectId } from 'mongodb';
import type { HostEventFacts, HostEventType } from '../../domain/host-event.ts';

declare module './declaration.ts' {
  interface Documents {
    readonly eventOutbox: OutboxDocument;
    readonly hostEvents: HostEventDocument;
    readonly eventState: EventStateDocument;
  }
}

/** An event stored in the document it is about, written with the change itself, until it is moved to the log. */
export interface UnsentEventDocument {
  /** Identifies the event together with its document. */
  token: ObjectId;
  type: HostEventType;
  at: Date;
}

/** Field of documents whose changes are host events. */
export interface UnsentEvents {
  /** In chronological order. Absent: none. */
  unsent?: UnsentEventDocument[];
  /** Time of the earliest of them. */
  unsentAt?: Date;
}

/** An event that no other document can contain. */
export interface OutboxDocument {
  _id: string;
  type: HostEventType;
  at: Date;
  unsentAt: Date;
  facts: HostEventFacts;
}

export interface HostEventDocument extends Beside {
  _id: string;
  /** Consecutive: an event is stored only after the one with the preceding number. */
  seq: number;
  type: HostEventType;
  at: Date;
  storedAt: Date;
  facts: HostEventFacts;
  /** Members named in the facts, except for readers. */
  memberIds?: string[];
}

/** Progress of moving events. A single document. */
export interface EventStateDocument {
  _id: 'events';
  /** Events up to and including this number have been deleted. */
  deletedUpTo?: number;
  /** Highest number among the events that were erased. Numbers are not given twice. */
  removedUpTo?: number;
  /** The lease of the process that moves events. */
  lease?: LeaseDocument;
}

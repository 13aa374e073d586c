import { readerMutes, type Mute, type ReaderMutes } from '../../domain/mute.ts';
import { clock } from '../../lib/clock.ts';
import type { FeedDocument, MuteDocument } from './reader-documents.ts';

/** A reader's current mutes. */
export function mutesOf(document: { readonly mutes?: FeedDocument['mutes'] } | null): ReaderMutes {
  return readerMutes((document?.mutes ?? []).map(toMute), clock.now());
}

function toMute({ kind, value, text, until }: MuteDocument): Mute {
  return { kind, value, text: text ?? null, until: until ?? null };
}

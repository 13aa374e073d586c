import type { NewsfeedItem } from '../../../domain/newsfeed-item.ts';
import type { EventReaderSession, ReaderSession, ActionRead } from '../../session/reader-session.ts';

export interface ItemEventParts {
  readonly cursor: string;
  readonly item: NewsfeedItem;
  readonly actionRead: ActionRead;
  readonly open: () => EventReaderSession;
}

/** An item sent to a watcher. Its session is opened only if more data is needed, which is rare. */
export class ItemEvent {
  readonly kind: 'added' | 'updated';
  readonly cursor: string;
  readonly item: NewsfeedItem;
  readonly actionRead: ActionRead;
  readonly #open: () => EventReaderSession;

  constructor(kind: ItemEvent['kind'], { cursor, item, actionRead, open }: ItemEventParts) {
    this.kind = kind;
    this.cursor = cursor;
    this.item = item;
    this.actionRead = actionRead;
    this.#open = open;
  }

  get session(): ReaderSession {
    return this.#open();
  }
}

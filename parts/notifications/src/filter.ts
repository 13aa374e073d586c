import { z } from 'zod';
import { validate } from '../../../src/core/validate.ts';
import {
  isReadThrough,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from '../../../src/domain/notification.ts';
import type { Notification } from './groups.ts';
import type { NotificationState } from './store/states.ts';

/** A condition on notifications that a client can ask for. The input and its check, pages, counts and live events go by these rows. */
interface NotificationFilterRow<V> {
  readonly name: keyof NotificationFilterInput;
  readonly input: 'KINDS' | 'FLAG' | 'TIME';
  readonly description: string;
  /** `null`: the filter is not asked for. */
  readonly check: z.ZodType<V | null>;
  readonly passes: (one: Notification, value: V) => boolean;
  /** Whether notifications of the kind may pass: those of others are not read. Default: yes. */
  readonly ofKind?: (kind: NotificationKind, value: V) => boolean;
  /** Whether nothing passes that stands at this time or before: no more is read. Default: no. */
  readonly isOver?: (state: NotificationState, at: Date, value: V) => boolean;
}

export interface NotificationFilterInput {
  readonly kinds?: readonly NotificationKind[] | null | undefined;
  readonly unreadOnly?: boolean | null | undefined;
  /** Newest event at this time or later. */
  readonly since?: Date | null | undefined;
  /** Newest event before this time. */
  readonly until?: Date | null | undefined;
}

const row = <V>(one: NotificationFilterRow<V>): NotificationFilterRow<unknown> =>
  one as NotificationFilterRow<unknown>;
const orNull = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? null);

export const NOTIFICATION_FILTERS = [
  row({
    ...{ name: 'kinds', input: 'KINDS', description: 'Of one of these kinds.' },
    check: orNull(z.array(z.enum(NOTIFICATION_KINDS))),
    passes: ({ group }, kinds) => kinds.includes(group.kind),
    ofKind: (kind, kinds) => kinds.includes(kind),
  }),
  row({
    ...{ name: 'unreadOnly', input: 'FLAG', description: 'Only unread ones.' },
    check: orNull(z.boolean()),
    passes: ({ isRead }, isAsked) => !isAsked || !isRead,
    isOver: (state, at, isAsked) => isAsked && isReadThrough(state, { at, key: '' }),
  }),
  row({
    ...{ name: 'since', input: 'TIME', description: 'With the newest event at this time or later.' },
    check: orNull(z.date()),
    passes: ({ group }, since) => group.at.getTime() >= since.getTime(),
    isOver: (_state, at, since) => at.getTime() < since.getTime(),
  }),
  row({
    ...{ name: 'until', input: 'TIME', description: 'With the newest event before this time.' },
    check: orNull(z.date()),
    passes: ({ group }, until) => group.at.getTime() < until.getTime(),
  }),
];

const filterSchema = z.object(
  Object.fromEntries(NOTIFICATION_FILTERS.map(({ name, check }) => [name, check])),
);

/** Which notifications of a reader are asked for. */
export class NotificationFilter {
  readonly #asked: readonly { readonly row: NotificationFilterRow<unknown>; readonly value: unknown }[];
  /** Equal for filters that ask for the same. */
  readonly key: string;

  /** @throws FanfareError BAD_USER_INPUT */
  constructor(input: NotificationFilterInput | null | undefined) {
    const values = input == null ? {} : validate(filterSchema, { ...input }, ['filter']);
    this.#asked = NOTIFICATION_FILTERS.flatMap((row) => {
      const value = values[row.name] ?? null;
      return value === null ? [] : [{ row, value }];
    });
    this.key = JSON.stringify(this.#asked.map(({ row, value }) => [row.name, value]));
  }

  passes(one: Notification): boolean {
    return this.#asked.every(({ row, value }) => row.passes(one, value));
  }

  ofKind(kind: NotificationKind): boolean {
    return this.#asked.every(({ row, value }) => row.ofKind?.(kind, value) ?? true);
  }

  isOver(state: NotificationState, at: Date): boolean {
    return this.#asked.some(({ row, value }) => row.isOver?.(state, at, value) ?? false);
  }
}

import { SPOKEN_KINDS, type NotificationMessages, type SpokenKind } from '../domain/notification.ts';
import { DEFAULT_LOCALE, type Locale } from './locale.ts';
import { defineSentence, SUBJECTS, type Sentence } from './sentence.ts';

/** Argument for what the reader was assigned to. */
export const ASSIGNED_REF = 'ref';

const hat = (rest: string): string => `{actor} {subjects, plural, one {hat} other {haben}} ${rest}`;

const SHIPPED: Readonly<Record<SpokenKind, { readonly en: string; readonly de: string }>> = {
  COMMENT: { en: '{actor} commented on your post', de: hat('deinen Beitrag kommentiert') },
  REPLY: { en: '{actor} replied to your comment', de: hat('auf deinen Kommentar geantwortet') },
  MENTION: { en: '{actor} mentioned you', de: hat('dich erwähnt') },
  LIKE: { en: '{actor} liked your post', de: '{actor} gefällt dein Beitrag' },
  REACTION: { en: '{actor} reacted to your post', de: hat('auf deinen Beitrag reagiert') },
  RESHARE: { en: '{actor} reshared your post', de: hat('deinen Beitrag geteilt') },
  FOLLOW: {
    en: '{actor} {subjects, plural, one {follows} other {follow}} you now',
    de: '{actor} {subjects, plural, one {folgt} other {folgen}} dir jetzt',
  },
  ASSIGNED: { en: 'You were assigned to {ref}', de: '{ref} wurde dir zugewiesen' },
};

const FIELDS = { [SUBJECTS]: { kind: 'number' }, [ASSIGNED_REF]: { kind: 'id' } };

export type NotificationSentences = Readonly<Record<SpokenKind, Sentence>>;

/** @throws Error when a message is not valid ICU or has an unknown argument. */
export function notificationSentence(
  kind: SpokenKind,
  added: Readonly<Record<Locale, string>> = {},
): Sentence {
  return defineSentence({ ...SHIPPED[kind], ...added, [DEFAULT_LOCALE]: SHIPPED[kind].en }, FIELDS);
}

/** Sentences in all languages. Kinds that a language leaves out are in English. */
export function notificationSentences(
  locales: ReadonlyMap<Locale, NotificationMessages>,
): NotificationSentences {
  const of = (kind: SpokenKind): Sentence =>
    notificationSentence(
      kind,
      Object.fromEntries(
        [...locales].flatMap(([locale, { [kind]: text }]) => (text === undefined ? [] : [[locale, text]])),
      ),
    );
  return Object.fromEntries(SPOKEN_KINDS.map((kind) => [kind, of(kind)])) as unknown as NotificationSentences;
}

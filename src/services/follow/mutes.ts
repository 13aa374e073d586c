import { textSchema } from '../../descriptors/define.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import {
  MAX_MUTES,
  MAX_PHRASE_LENGTH,
  MAX_PHRASES,
  MAX_PHRASE_WORDS,
  type MuteTarget,
} from '../../domain/mute.ts';
import { comparable } from '../../domain/text-forms.ts';
import { wordsOf } from '../../domain/words.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../../realtime/announce.ts';
import { typeSchema } from '../feed/filters.ts';
import type { MuteTargetInput } from '../shapes.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import { validate } from '../validate.ts';
import type { FollowDependencies } from '../service-parts.ts';

type Path = readonly string[];

/**
 * Keeps the target's actions out of the reader's feed from now on, including past ones, without changing stored entries.
 * Repeating a mute replaces its end.
 * @throws FanfareError BAD_USER_INPUT, CONFLICT when the reader has too many mutes.
 */
export async function addMute(
  dependencies: FollowDependencies,
  session: ReaderSession,
  given: MuteTargetInput,
  until: Date | null | undefined,
): Promise<void> {
  const { userId } = session.identity;
  const target = checkTarget(given, ['target'], true);
  if (isOneself(target, userId)) throw badInput('Must be somebody else', ['target', 'memberId']);
  const now = clock.now();
  if (until != null && !(until.getTime() > now.getTime()))
    throw badInput('Must be later than now', ['until']);
  await add(dependencies, userId, target, until ?? null, now);
}

/** Ends a mute; does nothing when there is none. @throws FanfareError BAD_USER_INPUT */
export async function removeMute(
  dependencies: FollowDependencies,
  session: ReaderSession,
  given: MuteTargetInput,
): Promise<void> {
  await remove(dependencies, session.identity.userId, checkTarget(given, ['target'], false));
}

/** `addMute` for a member, without an end. @throws FanfareError BAD_USER_INPUT, CONFLICT */
export async function mute(
  dependencies: FollowDependencies,
  session: ReaderSession,
  memberId: UserId,
): Promise<void> {
  const { userId } = session.identity;
  const target = checkTarget({ memberId }, [], true);
  if (isOneself(target, userId)) throw badInput('Must be somebody else', ['memberId']);
  await add(dependencies, userId, target, null, clock.now());
}

/** `removeMute` for a member. @throws FanfareError BAD_USER_INPUT */
export async function unmute(
  dependencies: FollowDependencies,
  session: ReaderSession,
  memberId: UserId,
): Promise<void> {
  await remove(dependencies, session.identity.userId, checkTarget({ memberId }, [], false));
}

async function add(
  dependencies: FollowDependencies,
  userId: UserId,
  target: MuteTarget,
  until: Date | null,
  now: Date,
): Promise<void> {
  if (!(await dependencies.feeds.addMute(userId, { ...target, until }, now)))
    throw new FanfareError(
      'CONFLICT',
      `No more than ${String(MAX_MUTES)} things can be muted, ${String(MAX_PHRASES)} phrases among them`,
    );
  await announceListChange(dependencies, [userId], 'mutes');
}

async function remove(dependencies: FollowDependencies, userId: UserId, target: MuteTarget): Promise<void> {
  await dependencies.feeds.removeMute(userId, target, clock.now());
  await announceListChange(dependencies, [userId], 'mutes');
}

/** @param isNew existing mutes can be removed even if their target is no longer valid for a new mute. */
function checkTarget(given: MuteTargetInput, path: Path, isNew: boolean): MuteTarget {
  const { memberId, refId, type, phrase } = given;
  const count = [memberId, refId, type, phrase].filter((value) => value != null).length;
  if (count !== 1) throw badInput('Must be exactly one of memberId, refId, type and phrase', path);
  if (memberId != null) return plain('MEMBER', validate(idSchema, memberId, [...path, 'memberId']));
  if (refId != null) return plain('REF', validate(idSchema, refId, [...path, 'refId']));
  if (type != null) return plain('TYPE', validate(isNew ? typeSchema : idSchema, type, [...path, 'type']));
  return checkPhrase(phrase, [...path, 'phrase']);
}

function plain(kind: MuteTarget['kind'], value: string): MuteTarget {
  return { kind, value, text: null };
}

const phraseSchema = textSchema(MAX_PHRASE_LENGTH)
  .transform((text) => ({ text, words: wordsOf(comparable(text)) }))
  .refine(({ words }) => words.length > 0, 'Must contain at least one word')
  .refine(({ words }) => words.length <= MAX_PHRASE_WORDS, {
    error: `Must have at most ${String(MAX_PHRASE_WORDS)} words`,
  });

function checkPhrase(phrase: unknown, path: Path): MuteTarget {
  const { text, words } = validate(phraseSchema, phrase, path);
  return { kind: 'PHRASE', value: words.join(' '), text };
}

function isOneself({ kind, value }: MuteTarget, userId: UserId): boolean {
  return kind === 'MEMBER' && value === userId;
}

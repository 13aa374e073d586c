import type { UserId } from '../../../../src/domain/action.ts';
import { nameOfUnknown } from '../../../../src/domain/erasure.ts';
import {
  nameIn,
  othersIn,
  sentencesOfNotifications,
  descriptorOfType,
} from '../../../../src/descriptors/registry.ts';
import type { Locale } from '../../../../src/descriptors/locale.ts';
import { ASSIGNED_REF } from '../../../../src/descriptors/notification-sentences.ts';
import { ACTOR, SUBJECTS } from '../../../../src/descriptors/sentence.ts';
import type { ReaderSession } from '../../../../src/feed/session/reader-session.ts';
import { listOf, MAX_NAMED, summaryPartsOf, type SummaryPart } from '../../../../src/graphql/sentences.ts';
import { joinTexts } from '../../../../src/lib/byte-text.ts';
import { MEMBER, REF, refName } from '../../../../src/feed/loads/names.ts';
import type { Notification } from '../groups.ts';
import { actorsOf, countNewestActors } from '../read-notifications.ts';

/** Upper bound on the parts of a sentence: names, and text around each. */
export const MOST_PARTS = 2 * MAX_NAMED + 3;

const plain = (text: string): SummaryPart => ({ text, member: null, ref: null });

/** A sentence to the reader about what happened, such as "Ann, Bea, and 3 others commented on your post". */
export async function notificationParts(
  session: ReaderSession,
  notification: Notification,
  locale: Locale,
): Promise<readonly SummaryPart[]> {
  const { action, group } = notification;
  if (group.kind === 'OWN') {
    const descriptor = action === null ? undefined : descriptorOfType(action.descriptor.type);
    if (action === null || descriptor === undefined) return [plain(action?.descriptor.type ?? '')];
    return summaryPartsOf(session, action, descriptor, locale);
  }
  const sentence = sentencesOfNotifications()[group.kind];
  const spoken = sentence.spoken(locale);
  const actors = actorsOf(notification);
  // Counting older events as well would take a command for each sentence.
  const counted = countNewestActors(notification);
  const parts = sentence.parts(spoken, {
    fields: { [SUBJECTS]: counted.count, [ASSIGNED_REF]: group.refId ?? '' },
    hasName: () => true,
  });
  const named = await Promise.all(
    parts.map(async (part) => {
      if (typeof part === 'string') return [part];
      if (part.id !== ACTOR) return [await refPart(session, group.refId ?? '', spoken)];
      const shown = counted.count > MAX_NAMED ? actors.slice(0, MAX_NAMED - 1) : actors;
      const names = await Promise.all(shown.map((userId) => memberPart(session, userId, spoken)));
      const others = counted.count - shown.length;
      return listOf(
        others === 0 ? names : [...names, othersIn(spoken, counted.isExact ? others : null)],
        spoken,
      );
    }),
  );
  return joinTexts(named.flat()).map((piece) => (typeof piece === 'string' ? plain(piece) : piece));
}

async function memberPart(session: ReaderSession, userId: UserId, locale: Locale): Promise<SummaryPart> {
  const name = (await session.load(MEMBER, userId))?.name ?? nameOfUnknown(userId);
  return { text: nameIn(locale, name), member: { userId }, ref: null };
}

async function refPart(session: ReaderSession, refId: string, locale: Locale): Promise<SummaryPart> {
  const name = (await refName(session, refId))?.label ?? (await session.load(MEMBER, refId))?.name;
  return {
    text: nameIn(locale, name ?? nameOfUnknown(refId)),
    member: null,
    ref: await session.load(REF, refId),
  };
}

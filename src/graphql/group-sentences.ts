import type { DescriptorType } from '../descriptors/define.ts';
import type { Locale } from '../descriptors/locale.ts';
import { nameIn, othersIn } from '../descriptors/registry.ts';
import { ACTOR, SUBJECTS } from '../descriptors/sentence.ts';
import { joinTexts } from '../lib/join-texts.ts';
import type { ReaderSession } from '../services/session/reader-session.ts';
import { namePartOf, nameOf, summaryPartsOf, type Described, type SummaryPart } from './sentences.ts';

/** Upper bound on names in a list; longer lists name the first two and count the others. */
export const MAX_NAMED = 3;

/** Text, or a part that names a person or thing. */
type Piece = string | SummaryPart;

/** Visible items of a group, topmost first; at least one. */
export interface GroupedActions {
  readonly actions: readonly [Described, ...Described[]];
  /** `false` if there are more. */
  readonly isAll: boolean;
}

/** Parts of the sentence: that of a single item, or one about all, such as "Ann, Bob, and 3 others liked post Launch". */
export async function groupSummaryPartsOf(
  session: ReaderSession,
  group: GroupedActions,
  descriptor: DescriptorType,
  locale: Locale,
): Promise<readonly SummaryPart[]> {
  const { actions } = group;
  const [top] = actions;
  const { groupSentence: sentence, group: key = [] } = descriptor;
  if (sentence === null || actions.length === 1) return summaryPartsOf(session, top, descriptor, locale);
  const named = await Promise.all(
    sentence.ids.map(async (id) => ((await nameOf(session, top, descriptor, id)) === null ? [] : [id])),
  );
  const withName = new Set(named.flat());
  const [subject = ACTOR] = sentence.ids;
  // The list of names is in the language of the sentence.
  const spoken = sentence.spoken(locale);
  const parts = sentence.parts(spoken, {
    fields: { ...top.descriptor, [SUBJECTS]: distinct(actions, subject).length },
    hasName: (argument) => withName.has(argument),
  });
  const listed = parts.map(async (part) => {
    if (typeof part === 'string') return [part];
    const naming = key.includes(part.id) ? [top] : distinct(actions, part.id);
    const shown = naming.length > MAX_NAMED ? naming.slice(0, MAX_NAMED - 1) : naming;
    const found = await Promise.all(shown.map((action) => namePartOf(session, action, descriptor, part.id)));
    const names = found.map((name) => ({ ...name, text: nameIn(spoken, name.text) }));
    const others = naming.length - shown.length;
    return list(others === 0 ? names : [...names, othersIn(spoken, group.isAll ? others : null)], spoken);
  });
  return joinTexts((await Promise.all(listed)).flat()).map((piece) =>
    typeof piece === 'string' ? { text: piece, member: null, ref: null } : piece,
  );
}

/** The first action for each distinct value of the argument. */
function distinct(actions: readonly Described[], argument: string): Described[] {
  const byId = new Map<unknown, Described>();
  for (const action of actions) {
    const id = argument === ACTOR ? action.actorId : action.descriptor[argument];
    if (!byId.has(id)) byId.set(id, action);
  }
  return [...byId.values()];
}

function list(pieces: readonly Piece[], locale: Locale): Piece[] {
  const format = new Intl.ListFormat(locale, { type: 'conjunction' });
  const places = format.formatToParts(pieces.map((_, index) => String(index)));
  return places.flatMap(({ type, value }) => (type === 'element' ? (pieces[Number(value)] ?? []) : [value]));
}

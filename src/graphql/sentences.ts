import type { ActionRef, ActionTexts, UserId } from '../domain/action.ts';
import { isUnnamed } from '../domain/block.ts';
import { nameOfUnknown } from '../domain/erasure.ts';
import { isDirected, isolated } from '../domain/text-forms.ts';
import type { DescriptorType } from '../descriptors/define.ts';
import type { Locale } from '../descriptors/locale.ts';
import { nameIn, othersIn } from '../descriptors/registry.ts';
import { ACTOR, type SentencePart, SUBJECTS } from '../descriptors/sentence.ts';
import type { ReaderSession } from '../feed/session/reader-session.ts';
import { unnamed } from '../feed/loads/own-blocks.ts';
import { liveName } from './live-selection.ts';
import type { MemberSource } from './types/node.ts';
import type { RefSource } from '../features/directory/api/ref.ts';
import { joinTexts } from '../lib/byte-text.ts';
import { MEMBER, REF, refName } from '../feed/loads/names.ts';

/** Upper bound on names in a list; longer lists name the first two and count the others. */
export const MAX_NAMED = 3;

/** Text, or a part that names a person or thing. */
type Piece = string | SummaryPart;

/** Visible items of a group, topmost first; at least one. */
interface GroupedActions {
  readonly actions: readonly [Described, ...Described[]];
  /** `false` if there are more. */
  readonly isAll: boolean;
}

/** Parts of the sentence: that of a single item, or one about all, such as "Ann, Bob, and 3 others liked the post Launch". */
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
    return listOf(others === 0 ? names : [...names, othersIn(spoken, group.isAll ? others : null)], spoken);
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

/** One for each language of the host: making one takes ten times as long as using it. */
const LIST_FORMATS = new Map<Locale, Intl.ListFormat>();

/** The pieces as a list in a language: "Ann, Bob, and Cid". */
export function listOf(pieces: readonly Piece[], locale: Locale): Piece[] {
  const format = LIST_FORMATS.get(locale) ?? new Intl.ListFormat(locale, { type: 'conjunction' });
  LIST_FORMATS.set(locale, format);
  const places = format.formatToParts(pieces.map((_, index) => String(index)));
  return places.flatMap(({ type, value }) => (type === 'element' ? (pieces[Number(value)] ?? []) : [value]));
}

export interface Described extends ActionTexts {
  readonly actorId: UserId;
}

/** A piece of a sentence's text, and the person or thing it names. */
export interface SummaryPart {
  readonly text: string;
  readonly member: MemberSource | null;
  readonly ref: RefSource | null;
}

export async function summaryOf(
  session: ReaderSession,
  action: Described,
  descriptor: DescriptorType,
  locale: Locale,
): Promise<string> {
  const { parts, names } = await sentenceOf(session, action, descriptor, locale);
  return plainSentence(
    parts.map((part) => (typeof part === 'string' ? part : { name: textOf(part.id, names, action) })),
  );
}

/** One text: where letters run in both directions, names are isolated from what stands around them. */
export function plainSentence(pieces: readonly (string | { readonly name: string })[]): string {
  const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.name));
  if (!texts.some(isDirected)) return texts.join('');
  return pieces.map((piece) => (typeof piece === 'string' ? piece : isolated(piece.name))).join('');
}

/** A sentence as parts: each name is a part of its own. */
export async function summaryPartsOf(
  session: ReaderSession,
  action: Described,
  descriptor: DescriptorType,
  locale: Locale,
): Promise<readonly SummaryPart[]> {
  const { parts, names } = await sentenceOf(session, action, descriptor, locale);
  return Promise.all(
    parts.map(async (part) =>
      typeof part === 'string'
        ? { text: part, member: null, ref: null }
        : { text: textOf(part.id, names, action), ...(await linkOf(session, action, descriptor, part.id)) },
    ),
  );
}

async function sentenceOf(
  session: ReaderSession,
  action: Described,
  descriptor: DescriptorType,
  locale: Locale,
): Promise<{ parts: readonly SentencePart[]; names: ReadonlyMap<string, string> }> {
  const { sentence } = descriptor;
  const spoken = sentence.spoken(locale);
  const found = await Promise.all(
    sentence.ids.map(
      async (argument) => [argument, await nameOf(session, action, descriptor, argument)] as const,
    ),
  );
  const names = new Map(
    found.flatMap(([argument, name]) => (name === null ? [] : [[argument, nameIn(spoken, name)]])),
  );
  const parts = sentence.parts(locale, {
    fields: action.descriptor,
    hasName: (argument) => names.has(argument),
  });
  return { parts, names };
}

export async function namePartOf(
  session: ReaderSession,
  action: Described,
  descriptor: DescriptorType,
  argument: string,
): Promise<SummaryPart> {
  const [name, link] = await Promise.all([
    nameOf(session, action, descriptor, argument),
    linkOf(session, action, descriptor, argument),
  ]);
  const names = new Map(name === null ? [] : [[argument, name]]);
  return { text: textOf(argument, names, action), ...link };
}

/** Current name; the descriptor's copy if the thing has no name any more. */
export async function nameOf(
  session: ReaderSession,
  action: Described,
  { namedFields }: DescriptorType,
  argument: string,
): Promise<string | null> {
  const { actorId, descriptor: stored, refs } = action;
  if (argument === ACTOR) {
    // Joins the batch of members that are loaded because no ref names them: one query for all.
    await refName(session, actorId);
    return (await session.load(MEMBER, actorId))?.name ?? nameOfUnknown(actorId);
  }
  const id = stored[argument];
  if (typeof id !== 'string') return null;
  const copy = namedFields.find(({ idField }) => idField === argument)?.name;
  const copied = copy === undefined ? undefined : stored[copy];
  return (
    (isUnnamed(action, id) ? null : await liveName(session, id)) ??
    (typeof copied === 'string' && copied !== '' ? copied : null) ??
    refs.find((ref) => ref.id === id)?.label ??
    null
  );
}

function textOf(argument: string, names: ReadonlyMap<string, string>, { descriptor }: Described): string {
  const id = descriptor[argument];
  return names.get(argument) ?? (typeof id === 'string' ? id : '');
}

/** A ref of an action, with the name it had when the action was recorded. */
export async function recordedRef(
  session: ReaderSession,
  action: Described,
  { id, type, label }: ActionRef,
): Promise<RefSource> {
  if (!isUnnamed(action, id)) return { refId: id, type, label };
  return { ...(await unnamed(session, id)), type, label };
}

/** Target of a link: a person if the field is one or no ref has the id, otherwise the thing. */
async function linkOf(
  session: ReaderSession,
  action: Described,
  { fields }: DescriptorType,
  argument: string,
): Promise<Omit<SummaryPart, 'text'>> {
  const { actorId, descriptor: stored } = action;
  if (argument === ACTOR) return { member: { userId: actorId }, ref: null };
  const id = stored[argument];
  if (typeof id !== 'string') return { member: null, ref: null };
  const field = fields[argument];
  const isPerson = field?.kind === 'id' && field.isPerson;
  const copy = action.refs.find((ref) => ref.id === id);
  const recorded = copy === undefined ? null : await recordedRef(session, action, copy);
  if (isUnnamed(action, id)) {
    const nobody = await unnamed(session, id);
    const known = recorded ?? (nobody.own === undefined ? null : nobody);
    if (known !== null) return { member: null, ref: known };
    return { member: isPerson ? { userId: id, nobody } : null, ref: null };
  }
  const [ref, member] = await Promise.all([session.load(REF, id), session.load(MEMBER, id)]);
  const isDescribed = (ref?.label ?? null) !== null;
  if (member !== null && (isPerson || !isDescribed)) return { member: { userId: id }, ref: null };
  // The action knows more about a ref that only follows know.
  const known = isDescribed ? ref : (recorded ?? ref);
  if (known !== null) return { member: null, ref: known };
  return { member: isPerson ? { userId: id } : null, ref: null };
}

import { followOf, isBlocked, isFollowing, type ModelList } from './model.ts';
import { expectOutcome, session, type Run, type StepTo } from './model-run.ts';
import type { Person } from './model-steps.ts';

async function listOf(run: Run, by: Person, name: string): Promise<ModelList> {
  const { lists } = run.reader(by);
  const known = lists.get(name);
  if (known !== undefined) return known;
  const { id } = await run.parts.services.createList(session(run, by), { name, isExclusive: false });
  const made = { id, isExclusive: false };
  lists.set(name, made);
  return made;
}

export async function changeEntry(
  run: Run,
  { do: what, by, list: name, ref }: StepTo<'putInList' | 'takeFromList'>,
): Promise<void> {
  const { parts, model, id } = run;
  const [followerId, refId] = [id(by), id(ref)];
  // Whether who is blocked follows is for them alone, and has a test of its own.
  if (isBlocked(model, { userId: followerId, roles: [] }, refId)) return;
  const list = await listOf(run, by, name);
  const follow = followOf(model, followerId, refId);
  const others = follow.lists.filter((one) => one !== name);
  if (what === 'takeFromList') {
    await parts.services.removeFromList(session(run, by), list.id, [refId]);
    follow.lists = others;
    return;
  }
  const isFollowed = isFollowing(model, followerId, refId);
  await expectOutcome(
    parts.services.addToList(session(run, by), list.id, [refId]),
    isFollowed ? null : 'CONFLICT',
  );
  if (isFollowed) follow.lists = [...others, name];
}

export async function makeExclusive(
  run: Run,
  { by, list: name, isExclusive }: StepTo<'makeExclusive'>,
): Promise<void> {
  const list = await listOf(run, by, name);
  await run.parts.services.updateList(session(run, by), list.id, { isExclusive });
  list.isExclusive = isExclusive;
}

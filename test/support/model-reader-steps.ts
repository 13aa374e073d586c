import {
  assign,
  bringAlong,
  endFollow,
  endSpan,
  followOf,
  feedFor,
  isBlocked,
  isFollowing,
  isOpenWith,
  oldestCopied,
  openSpan,
  typesTaken,
  type ModelMember,
} from './model.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';
import type { Move } from './model-steps.ts';

export async function follow(run: Run, { by, ref, copyLimit, types }: StepTo<'follow'>): Promise<void> {
  const { parts, model, id } = run;
  const [followerId, refId] = [id(by), id(ref)];
  const taken = typesTaken(model, followerId, refId, types);
  const oldest = oldestCopied(model, refId, copyLimit, taken);
  const isKept = isBlocked(model, run.reader(by), refId);
  const { instant } = await during(() =>
    expectOutcome(
      parts.services.follow(session(run, by), refId, copyLimit, types),
      isKept ? 'NOT_FOUND' : null,
    ),
  );
  if (isKept) return;
  const isOpen = isFollowing(model, followerId, refId);
  if (isOpen && isOpenWith(model, followerId, refId, taken)) {
    if (oldest !== undefined) bringAlong(model, followerId, refId, oldest);
    return;
  }
  const [before, opened] = await lastSpans(run, followerId, refId);
  if (isOpen) endSpan(model, followerId, refId, instant(before?.until));
  else await beginFollow(run, followerId, refId, instant);
  const span =
    oldest === undefined
      ? { since: instant(opened?.since), firstActionId: null }
      : { since: oldest.recorded, firstActionId: oldest.id };
  openSpan(model, followerId, refId, { ...span, until: null, types: taken });
}

/** When it began is not that of its span, which may bring what is older. */
async function beginFollow(
  { parts, model }: Run,
  followerId: string,
  refId: string,
  instant: (at: Date | undefined) => number,
): Promise<void> {
  const stored = found(await parts.database.collections.follows.findOne({ followerId, refId }));
  const follow = followOf(model, followerId, refId);
  follow.id = stored._id.toHexString();
  follow.openedAt ??= instant(stored.openedAt);
  if (stored.assignedAt !== undefined) follow.assignedAt ??= instant(stored.assignedAt);
}

/** The last two. */
export async function lastSpans({ parts }: Run, followerId: string, refId: string) {
  const [stored] = await parts.repositories.follows.find(followerId, [refId]);
  return [stored?.spans.at(-2), stored?.spans.at(-1)] as const;
}

export async function followMany(run: Run, { pairs }: StepTo<'followMany'>): Promise<void> {
  const { parts, model, id } = run;
  const named = pairs.map(({ by, ref, ...options }) => ({ followerId: id(by), refId: id(ref), ...options }));
  const { instant } = await during(() => parts.services.followMany(parts.service, named));
  for (const { followerId, refId } of new Map(
    named.map((pair) => [`${pair.followerId} ${pair.refId}`, pair]),
  ).values()) {
    // Of a service nobody knows whether one of them is an admin.
    if (model.blocks.some(({ by, who }) => [by, who].every((one) => one === followerId || one === refId)))
      continue;
    // Of a pair that is named twice the last value of each option is the one that counts.
    const same = named.filter((pair) => pair.followerId === followerId && pair.refId === refId);
    const given = same.findLast(({ types }) => types !== undefined)?.types;
    const isAssigned = same.findLast((pair) => pair.isAssigned !== undefined)?.isAssigned;
    const types = typesTaken(model, followerId, refId, given);
    const isOpen = isFollowing(model, followerId, refId);
    if (!isOpen || !isOpenWith(model, followerId, refId, types)) {
      const [before, opened] = await lastSpans(run, followerId, refId);
      if (isOpen) endSpan(model, followerId, refId, instant(before?.until));
      openSpan(model, followerId, refId, {
        ...{ since: instant(opened?.since), firstActionId: null, until: null, types },
      });
    }
    assign(model, followerId, refId, isAssigned);
    await beginFollow(run, followerId, refId, instant);
  }
}

export async function unfollow(
  run: Run,
  { by, ref, keepHistory, isSync }: StepTo<'unfollow'>,
): Promise<void> {
  const { parts, model, id } = run;
  const [followerId, refId] = [id(by), id(ref)];
  const { services } = parts;
  const { instant } = await during<unknown>(() =>
    isSync
      ? services.unfollowMany(parts.service, [{ followerId, refId }], keepHistory)
      : services.unfollow(session(run, by), refId, keepHistory),
  );
  if (!keepHistory) endFollow(model, followerId, refId, null);
  else if (isFollowing(model, followerId, refId))
    endFollow(model, followerId, refId, instant((await lastSpans(run, followerId, refId))[1]?.until));
}

export async function markRead(run: Run, { by, upTo }: StepTo<'markRead'>): Promise<void> {
  const reader = run.reader(by);
  const feed = feedFor(run.model, reader);
  const entry = upTo === 'the end of time' ? undefined : feed[upTo % Math.max(1, feed.length)];
  const mark = entry === undefined ? Date.now() + 60_000 : entry.relevancy;
  const { instant } = await during(() => run.parts.services.markFeedRead(session(run, by), new Date(mark)));
  const read =
    entry === undefined
      ? instant((await run.parts.repositories.feeds.marks(reader.userId)).lastRead ?? undefined)
      : mark;
  reader.lastRead = Math.max(reader.lastRead ?? 0, read);
}

export async function move(run: Run, wanted: readonly Move[]): Promise<void> {
  const { parts, model, id } = run;
  const toId = (name: string | null): string | null => (name === null ? null : id(name));
  // The last change of somebody is the one that counts.
  const moves = new Map(
    wanted.map(({ who, team = null, department = null, supervisor = null }) => [
      who,
      { who, team, department, supervisor },
    ]),
  );
  const { instant } = await during(() =>
    parts.services.upsertMembers(
      parts.service,
      [...moves.values()].map(({ who, team, department, supervisor }) => ({
        ...{ memberId: id(who), name: who },
        // What has no value is left out, or given as null: both empty it.
        ...(team === null ? {} : { teamId: id(team) }),
        ...(department === null ? {} : { departmentId: id(department) }),
        supervisorId: toId(supervisor),
      })),
    ),
  );
  const stored = await parts.repositories.members.findByIds([...moves.keys()].map(id));
  for (const { who, team, department, supervisor } of moves.values()) {
    const now = found(stored.find((member) => member.userId === id(who)));
    const old = model.members.find((member) => member.userId === id(who));
    const teamId = toId(team);
    const departmentId = toId(department);
    const since = (
      next: string | null,
      before: string | null | undefined,
      known: number,
      at: Date | null,
    ): number => (next === null || next === before ? known : instant(at ?? undefined));
    const member: ModelMember = {
      userId: id(who),
      teamId,
      teamSince: since(teamId, old?.teamId, old?.teamSince ?? 0, now.teamSince),
      departmentId,
      departmentSince: since(departmentId, old?.departmentId, old?.departmentSince ?? 0, now.departmentSince),
      supervisorId: toId(supervisor),
    };
    model.members = [...model.members.filter(({ userId }) => userId !== member.userId), member];
  }
}

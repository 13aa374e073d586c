import { endFollow, isFollowing } from './model.ts';
import { lastSpans } from './model-reader-steps.ts';
import { during, expectOutcome, session, type Run, type StepTo } from './model-run.ts';

/** Neither sees the other, and follows between them end with their history kept. */
export async function changeBlock(
  run: Run,
  { do: what, by, who }: StepTo<'block' | 'unblock'>,
): Promise<void> {
  const { model, id } = run;
  const { services } = run.parts;
  const [userId, otherId] = [id(by), id(who)];
  const refusal = by === who ? 'BAD_USER_INPUT' : null;
  const { instant } = await during(() =>
    expectOutcome(
      what === 'block'
        ? services.blockMember(session(run, by), otherId)
        : services.unblockMember(session(run, by), otherId),
      refusal,
    ),
  );
  if (refusal !== null) return;
  model.blocks = model.blocks.filter((block) => block.by !== userId || block.who !== otherId);
  if (what === 'unblock') return;
  model.blocks.push({ by: userId, who: otherId });
  for (const [followerId, refId] of [
    [userId, otherId],
    [otherId, userId],
  ] as const)
    if (isFollowing(model, followerId, refId))
      endFollow(model, followerId, refId, instant((await lastSpans(run, followerId, refId))[1]?.until));
}

import { alternate, type Series } from '../harness/rounds.ts';
import { timed } from '../harness/statistics.ts';
import type { InProcess } from '../harness/in-process.ts';
import { ratingInput } from '../world/actions.ts';
import { BUMP_REF } from '../world/models-load.ts';
import type { ModelWorld } from '../world/models.ts';

/** What a change of one action costs that is in many feeds, in milliseconds. */
export interface ChangeSeries {
  readonly model: string;
  /** The pass, from its claim to DONE, of a bump by days. */
  readonly bump: Series;
  /** The same of a further bump, by moments. */
  readonly again: Series;
  /** From the call of deleteAction to DONE, when nobody holds the action any more. */
  readonly removal: Series;
  /** Of that the pass alone. */
  readonly removalPass: Series;
}

const DAY = 86_400_000;
/** Who published the actions: a member who comments on one must be allowed to see it. */
const ACTOR = 'actor-1';
/** A comment boosts by a tenth of that for readers whom it does not concern, and to the top for the others. */
const AGE = 30 * DAY;

/** Bumps and deletes an action that so many readers hold, in all models in turn; a new one in each round. */
export async function measureChanges(
  worlds: readonly ModelWorld[],
  holders: number,
  options: { readonly rounds: number; readonly warmUp: number },
): Promise<readonly ChangeSeries[]> {
  const measured = worlds.map((world) => ({
    world,
    bump: [] as number[],
    again: [] as number[],
    removal: [] as number[],
    removalPass: [] as number[],
  }));
  await alternate(
    measured.map(({ world: { model, fanfare, store }, bump, again, removal, removalPass }) => ({
      name: model,
      measure: async (round) => {
        const conducted = new Date(Date.now() - AGE);
        const id = await fanfare.publish(ratingInput(1, [{ id: BUMP_REF }], { conducted }));
        const { delivered } = await fanfare.done(id);
        if (delivered !== holders)
          throw new Error(`Delivered ${String(delivered)} of ${String(holders)} items`);
        const first = await comment(fanfare, id);
        const second = await comment(fanfare, id);
        let pass = 0;
        const whole = await timed(async () => {
          await fanfare.app.services.deleteAction(
            fanfare.app.services.openSession(fanfare.identity('admin', 'admin')),
            id,
          );
          pass = (await fanfare.done(id)).seconds * 1_000;
        });
        if ((await store.holders(id, { limit: 1 })).length > 0)
          throw new Error('Somebody holds a deleted action');
        if (round >= 0) {
          bump.push(first);
          again.push(second);
          removal.push(whole);
          removalPass.push(pass);
        }
        return first;
      },
    })),
    options,
  );
  return measured.map(({ world: { model }, bump, again, removal, removalPass }) => ({
    model,
    bump: { name: `${model}, bump by days`, values: bump },
    again: { name: `${model}, bump by moments`, values: again },
    removal: { name: `${model}, delete`, values: removal },
    removalPass: { name: `${model}, delete, the pass alone`, values: removalPass },
  }));
}

let comments = 0;

/** Milliseconds of the pass. */
async function comment(fanfare: InProcess, actionId: string): Promise<number> {
  const { services } = fanfare.app;
  await services.addInteraction(services.openSession(fanfare.service), {
    actionId,
    kind: 'COMMENT',
    actorId: ACTOR,
    idempotencyKey: `comment-${String(comments++)}`,
  });
  return (await fanfare.done(actionId)).seconds * 1_000;
}

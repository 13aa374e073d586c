import type { ModelAction } from './model.ts';
import { comeDue, expire, moderate, publish, remove, rename } from './model-action-steps.ts';
import { edit } from './model-edit-steps.ts';
import { editInteraction, interact, moderateInteraction, takeBackOwn } from './model-interaction-steps.ts';
import { changeBlock } from './model-block-steps.ts';
import { follow, followMany, markRead, move, unfollow } from './model-reader-steps.ts';
import { bookmark, endSnooze, hideItem, markItem } from './model-mark-steps.ts';
import { changeEntry, makeExclusive } from './model-list-steps.ts';
import { changeMute, endMute } from './model-mute-steps.ts';
import { markNotifications, preferNotifications } from './model-notifications.ts';
import { pin } from './model-pin-steps.ts';
import { found, type Run } from './model-run.ts';
import type { Step } from './model-steps.ts';
import { cutOff, finishWork, startWorkers, stopWorkers } from './model-workers.ts';

/** Does one thing to both, and expects them to agree on whether it may be done. */
export async function take(run: Run, step: Step): Promise<void> {
  switch (step.do) {
    case 'publish':
      return publish(run, step);
    case 'comeDue':
      return comeDue(run, step);
    case 'interact':
      return withAction(run, step, (action) => interact(run, step, action));
    case 'takeBack':
      return withAction(run, step, (action) => takeBackOwn(run, step, action));
    case 'hideInteraction':
    case 'unhideInteraction':
      return withAction(run, step, (action) => moderateInteraction(run, step, action));
    case 'editInteraction':
      return withAction(run, step, (action) => editInteraction(run, step, action));
    case 'pin':
    case 'unpin':
      return withAction(run, step, (action) => pin(run, step, action));
    case 'hide':
    case 'unhide':
      return withAction(run, step, (action) => moderate(run, step.do, action));
    case 'expire':
      return withAction(run, step, (action) => expire(run, action));
    case 'edit':
      return withAction(run, step, (action) => edit(run, step, action));
    case 'delete':
      return withAction(run, step, (action) => remove(run, step.by, action));
    case 'follow':
      return follow(run, step);
    case 'followMany':
      return followMany(run, step);
    case 'unfollow':
      return unfollow(run, step);
    case 'addMute':
    case 'removeMute':
      return changeMute(run, step);
    case 'putInList':
    case 'takeFromList':
      return changeEntry(run, step);
    case 'makeExclusive':
      return makeExclusive(run, step);
    case 'block':
    case 'unblock':
      return changeBlock(run, step);
    case 'endMute':
      return endMute(run, step);
    case 'hideItem':
    case 'unhideItem':
    case 'archiveItem':
    case 'unarchiveItem':
    case 'snoozeItem':
    case 'unsnoozeItem':
      return withAction(run, step, (action) => hideItem(run, step, action));
    case 'endSnooze':
      return withAction(run, step, (action) => endSnooze(run, step, action));
    case 'markItemRead':
    case 'markItemUnread':
      return withAction(run, step, (action) => markItem(run, step, action));
    case 'seeNotifications':
    case 'readNotifications':
    case 'readNotification':
      return markNotifications(run, step);
    case 'preferNotifications':
      return preferNotifications(run, step);
    case 'bookmark':
    case 'unbookmark':
      return withAction(run, step, (action) => bookmark(run, step, action));
    case 'markRead':
      return markRead(run, step);
    case 'rename':
      return rename(run, step);
    case 'move':
      return move(run, step.moves);
    case 'fanOut':
      return finishWork(run);
    case 'cutOff':
      return cutOff(run);
    case 'startWorker':
      run.workers ??= startWorkers(run.parts);
      return;
    case 'stopWorker':
      return stopWorkers(run);
    case 'look':
      throw new Error('Looking is for the test to do');
  }
}

async function withAction(
  run: Run,
  step: { readonly action: number },
  work: (action: ModelAction) => Promise<void>,
): Promise<void> {
  const { actions } = run.model;
  if (actions.length > 0) await work(found(actions[step.action % actions.length]));
}

import type { ActionId, UserId } from './action.ts';
import type { InteractionId } from './interaction.ts';

/** The global id of an object; see `graphql/global-id.ts`. */
export function encodeNodeId(type: string, key: string): string {
  return Buffer.from(`${type}:${key}`).toString('base64');
}

export function encodeActionId(actionId: ActionId): string {
  return encodeNodeId('Action', actionId);
}

/** `null`: it is not the global id of an action. */
export function actionIdIn(id: string): ActionId | null {
  const [, actionId] = /^Action:([0-9a-f]{24})$/.exec(Buffer.from(id, 'base64').toString()) ?? [];
  return actionId !== undefined && encodeActionId(actionId) === id ? actionId : null;
}

export function encodeReportId(reportId: string): string {
  return encodeNodeId('Report', reportId);
}

export function encodeListId(listId: string): string {
  return encodeNodeId('ReaderList', listId);
}

export function encodeInteractionId(interactionId: InteractionId): string {
  return encodeNodeId('Interaction', interactionId);
}

/** @param key of the group. */
export function encodeNotificationId(userId: UserId, key: string): string {
  return encodeNodeId('Notification', `${userId}:${key}`);
}

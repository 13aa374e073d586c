import { from, PERSON, SENTENCE, SHOWN } from './documents.ts';
import type { Fields } from './fields.ts';
import { ACTION_STATE, INTERACTION } from './mutations.ts';

export function sliceEventsOf({ action = '' }: Fields): string {
  return `subscription SliceEvents($after: String, $filter: ActionFilter, $refId: String!) {
    sliceEvents${from('refId: $refId, ')} ... on SliceReady { cursor } ... on SliceResync { cursor reason }
    ... on ActionAdded { cursor action { ...Fields } } ... on ActionUpdated { cursor action { ...Fields } }
    ... on ActionRemoved { cursor actionId } } } fragment Fields on Action {
    ${ACTION_STATE} conducted scope actor { ${PERSON} } ${SHOWN} descriptor { ${SENTENCE} } ${action} }`;
}

export function actionEventsOf({ comment = '' }: Fields): string {
  return `subscription ActionEvents($after: String, $actionId: ID!) {
    actionEvents(after: $after, actionId: $actionId) { __typename ... on ActionReady { cursor }
    ... on ActionResync { cursor reason } ... on ActionChanged { cursor action { ${ACTION_STATE} } }
    ... on ActionGone { cursor actionId } ... on InteractionAdded { cursor interaction { ...Fields } }
    ... on InteractionUpdated { cursor interaction { ...Fields } } ... on InteractionRemoved { cursor interactionId } } }
    fragment Fields on Interaction { ${INTERACTION} ${comment} }`;
}

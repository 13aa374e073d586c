/* eslint-disable */
import * as types from './graphql.ts';



/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  mutation Follow($refId: String!) {\n    follow(refId: $refId) {\n      refId\n      isFollowed\n    }\n  }\n": typeof types.FollowDocument,
    "\n  mutation Publish($input: PublishActionInput!) {\n    publishAction(input: $input) {\n      isReplay\n      action {\n        id\n      }\n    }\n  }\n": typeof types.PublishDocument,
    "\n  query Feed($first: Int, $filter: FeedFilter) {\n    feed(first: $first, filter: $filter) {\n      edges {\n        node {\n          action {\n            id\n            descriptor {\n              summary\n              ... on NewApplicantDescriptor {\n                applicantName\n              }\n            }\n          }\n        }\n      }\n    }\n  }\n": typeof types.FeedDocument,
};
const documents: Documents = {
    "\n  mutation Follow($refId: String!) {\n    follow(refId: $refId) {\n      refId\n      isFollowed\n    }\n  }\n": types.FollowDocument,
    "\n  mutation Publish($input: PublishActionInput!) {\n    publishAction(input: $input) {\n      isReplay\n      action {\n        id\n      }\n    }\n  }\n": types.PublishDocument,
    "\n  query Feed($first: Int, $filter: FeedFilter) {\n    feed(first: $first, filter: $filter) {\n      edges {\n        node {\n          action {\n            id\n            descriptor {\n              summary\n              ... on NewApplicantDescriptor {\n                applicantName\n              }\n            }\n          }\n        }\n      }\n    }\n  }\n": types.FeedDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation Follow($refId: String!) {\n    follow(refId: $refId) {\n      refId\n      isFollowed\n    }\n  }\n"): typeof import('./graphql.ts').FollowDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation Publish($input: PublishActionInput!) {\n    publishAction(input: $input) {\n      isReplay\n      action {\n        id\n      }\n    }\n  }\n"): typeof import('./graphql.ts').PublishDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Feed($first: Int, $filter: FeedFilter) {\n    feed(first: $first, filter: $filter) {\n      edges {\n        node {\n          action {\n            id\n            descriptor {\n              summary\n              ... on NewApplicantDescriptor {\n                applicantName\n              }\n            }\n          }\n        }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').FeedDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

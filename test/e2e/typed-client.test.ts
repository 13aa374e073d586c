import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { graphql } from '../support/generated/index.ts';
import { execute } from '../support/execute.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const Follow = graphql(`
  mutation Follow($refId: String!) {
    follow(refId: $refId) {
      refId
      isFollowed
    }
  }
`);

const Publish = graphql(`
  mutation Publish($input: PublishActionInput!) {
    publishAction(input: $input) {
      isReplay
      action {
        id
      }
    }
  }
`);

const Feed = graphql(`
  query Feed($first: Int, $filter: FeedFilter) {
    feed(first: $first, filter: $filter) {
      edges {
        node {
          action {
            id
            descriptor {
              summary
              ... on NewApplicantDescriptor {
                applicantName
              }
            }
          }
        }
      }
    }
  }
`);

test('a frontend with generated types follows, publishes and reads', async () => {
  const reader = { sub: 'reader' };
  await execute(app, Follow, { refId: 'p1' }, reader);
  const applicant = { applicantId: 'a1', applicantName: 'Mary', positionId: 'p1', positionName: 'Engineer' };
  const { publishAction } = await execute(
    app,
    Publish,
    {
      input: {
        refs: [{ id: 'p1', type: 'position', label: 'Engineer' }],
        descriptor: { newApplicant: applicant },
      },
    },
    { sub: 'bob' },
  );
  await app.idle();
  const { feed } = await execute(app, Feed, { first: 1, filter: { types: ['NewApplicant'] } }, reader);
  expect(feed.edges.map(({ node }) => node.action)).toEqual([
    {
      id: publishAction.action.id,
      descriptor: { summary: 'Mary applied for Engineer', applicantName: 'Mary' },
    },
  ]);
});

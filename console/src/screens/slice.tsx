import { FollowButton, useFollow, useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { goTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { counted } from '../ui/count.ts';
import { States } from '../ui/states.tsx';
import { ActionList, LISTED, type ActionPage } from '../ui/action-list.tsx';

const SLICE = `query Slice($refId: String!, $after: String) {
  slice(refId: $refId, first: 30, after: $after) { edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } }
}`;
const NAMES = `query Names($id: String!) {
  ref(refId: $id) { label type }
  member(memberId: $id) { name teamId departmentId }
}`;

interface Names {
  readonly ref: { readonly label: string; readonly type: string } | null;
  readonly member: {
    readonly name: string;
    readonly teamId: string | null;
    readonly departmentId: string | null;
  } | null;
}

/** The page of a person or a thing: all visible actions that carry its id. */
export function SliceScreen(): ReactNode {
  const { id } = useRoute();
  return (
    <>
      <h1>Pages</h1>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          goTo('slice', (new FormData(event.currentTarget).get('id') as string).trim());
        }}
      >
        <label>
          Id of a person or a thing
          <input key={id} name="id" defaultValue={id} required />
        </label>
        <button type="submit">Open</button>
      </form>
      {id === '' ? <p className="empty">Such as position:senior-engineer.</p> : <Page key={id} id={id} />}
    </>
  );
}

function Page({ id }: { readonly id: string }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Names>(NAMES, { id });
  const { member, ref } = data ?? {};
  const { followerCount } = useFollow(id);
  return (
    <>
      <section className="card">
        <States {...{ isLoading, error }} isEmpty={false} empty="" onRetry={reload}>
          <h2>{member?.name ?? ref?.label ?? id}</h2>
          <p className="meta">
            <code>{id}</code>
            <span>{member == null ? (ref?.type ?? '') : 'member'}</span>
            {member?.teamId != null && <span>team {member.teamId}</span>}
            {followerCount !== undefined && <span>{counted(followerCount, 'follower')}</span>}
            <FollowButton refId={id} />
          </p>
        </States>
      </section>
      <ActionList
        query={SLICE}
        variables={{ refId: id }}
        pick={(found) => (found as { readonly slice?: ActionPage }).slice}
        empty="Nothing visible carries this id."
      />
      <AsCode query={SLICE} variables={{ refId: id }} />
    </>
  );
}

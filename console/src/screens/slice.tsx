import '../later.css';
import { useQuery } from '@fanfare/react';
import type { ReactNode } from 'react';
import { ActionList, LISTED, type ActionPage } from '../ui/action-list.tsx';
import { AsCode } from '../ui/as-code.tsx';
import { PageHead, PersonTabs } from '../ui/person.tsx';
import { States } from '../ui/states.tsx';

const SLICE = `query Slice($refId: String!, $after: String) {
  slice(refId: $refId, first: 30, after: $after) { edges { node { ${LISTED} } } pageInfo { hasNextPage endCursor } }
}`;
const NAMES = `query Names($id: String!) {
  ref(refId: $id) { label type }
  member(memberId: $id) { name imageUrl teamId departmentId }
}`;

interface Names {
  readonly ref: { readonly label: string; readonly type: string } | null;
  readonly member: {
    readonly name: string;
    readonly imageUrl: string | null;
    readonly teamId: string | null;
    readonly departmentId: string | null;
  } | null;
}

/** The page of a person or a thing: all visible actions that carry its id. */
export function SliceScreen({ id }: { readonly id: string }): ReactNode {
  const { data, error, isLoading, reload } = useQuery<Names>(NAMES, { id });
  const { member, ref } = data ?? {};
  return (
    <>
      <States {...{ isLoading, error }} isEmpty={data === undefined} empty="" onRetry={reload}>
        <PageHead id={id} name={member?.name ?? ref?.label ?? id} imageUrl={member?.imageUrl}>
          <span className="badge">
            {member == null ? ref == null ? 'unknown' : <bdi>{ref.type}</bdi> : 'person'}
          </span>
          {member?.teamId != null && (
            <span>
              team <bdi>{member.teamId}</bdi>
            </span>
          )}
        </PageHead>
        {member != null && <PersonTabs id={id} />}
      </States>
      {/* What fails for the same reason is said once. */}
      {(error === null || data !== undefined) && (
        <ActionList
          query={SLICE}
          variables={{ refId: id }}
          pick={(found) => (found as { readonly slice?: ActionPage }).slice}
          empty="Nothing visible carries this id."
        />
      )}
      <AsCode query={SLICE} variables={{ refId: id }} />
    </>
  );
}

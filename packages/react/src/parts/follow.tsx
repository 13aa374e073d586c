import type { ReactNode } from 'react';
import { useFollow } from '../hooks/item.ts';
import { useCommonWords } from '../provider.tsx';

export function FollowButton({ refId }: { readonly refId: string }): ReactNode {
  const words = useCommonWords();
  const { isFollowed, error, toggle } = useFollow(refId);
  return (
    <button
      type="button"
      data-fanfare="follow"
      aria-pressed={isFollowed ?? false}
      title={error?.message}
      disabled={isFollowed === undefined && error === null}
      onClick={() => void toggle()}
    >
      {isFollowed === true ? words.following : words.follow}
    </button>
  );
}

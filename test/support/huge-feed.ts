/** A page of 2,500 of a feed of 10,000. */
export function hugePage(after: number, liveCursor: string) {
  const nodes = Array.from({ length: 2_500 }, (_, n) => after + n).map((n) => ({
    ...{ id: `huge-${String(n)}`, reasons: ['FOLLOW'], isUnread: false, groupId: `g${String(n)}` },
    relevancy: new Date(Date.UTC(2026, 0, 1) - n * 1_000).toISOString(),
    ...{ isArchived: false, snoozedUntil: null, resharedBy: [] },
    action: {
      ...{
        id: `huge-action-${String(n)}`,
        conducted: '2026-01-01T00:00:00.000Z',
        scope: 'PUBLIC',
        isHidden: false,
      },
      ...{ actor: { memberId: 'john', name: 'John' }, refs: [] },
      descriptor: {
        ...{ type: 'Posted', summary: `Huge ${String(n)}`, tags: [] },
        summaryParts: [{ text: `Huge ${String(n)}`, member: null, ref: null }],
      },
      content: { body: null, rating: null, media: [] },
      engagement: { comments: 0, likes: 0, reshares: 0, lastInteraction: null, reactions: [] },
      viewer: {
        ...{ hasLiked: false, hasCommented: false, hasReshared: false, isBookmarked: false },
        ...{ reactions: [], canDelete: false, canEdit: false },
      },
    },
  }));
  const end = after + nodes.length;
  return {
    edges: nodes.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage: end < 10_000, endCursor: String(end) },
    ...{ unread: { count: 0, isExact: true }, state: 'READY', liveCursor },
  };
}

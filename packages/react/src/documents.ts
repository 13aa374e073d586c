// What the package asks for beside what the client does itself.

export const UNREAD_COUNT = 'query UnreadCount { viewer { unreadCount { count isExact } } }';

export const FIRST_UNREAD = `query FirstUnread($view: String, $listId: ID) { viewer { firstUnread(view: $view, listId: $listId) { cursor isExact item { id } } } }`;

/** Whose a token is: no two readers have both. */
export const WHO = 'query Who { viewer { tenant memberId } }';

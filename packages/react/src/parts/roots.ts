/** A document, or the shadow root that an element is in. */
export const rootOf = (element: Element): Document | ShadowRoot =>
  element.getRootNode() as Document | ShadowRoot;

/** What has the shadow root that an element is in; undefined: it is in none. */
export const hostOf = (element: Element): HTMLElement | undefined =>
  (rootOf(element) as { readonly host?: HTMLElement }).host;

/** What an element is drawn in, shadow roots included. */
export const parentOf = (element: Element): HTMLElement | undefined =>
  element.assignedSlot ?? element.parentElement ?? hostOf(element);

/** A document, or the shadow root that an element is in. */
export function rootOf(element: Element): Document | ShadowRoot {
  return element.getRootNode() as Document | ShadowRoot;
}

/** What has the shadow root that an element is in. */
export function hostOf(element: Element): Element | undefined {
  const root = rootOf(element);
  return 'host' in root ? root.host : undefined;
}

/** What an element is drawn in, shadow roots included. */
export function parentOf(element: Element): Element | null {
  return element.assignedSlot ?? element.parentElement ?? hostOf(element) ?? null;
}

/** Where events of what an element is in arrive that leave no shadow root, such as those of scrolling. */
export function rootsAround(element: Element): readonly Node[] {
  const roots: Node[] = [];
  for (let from: Element | undefined = element; from !== undefined; from = hostOf(from)) roots.push(rootOf(from));
  return roots;
}

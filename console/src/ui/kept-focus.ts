const FOCUSABLE = 'a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]';
/** What is over the page gives the focus back to what has opened it. */
const OVER = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

interface Step {
  readonly element: Element;
  /** Among what its parent has. */
  readonly at: number;
}

/** Who goes on by keyboard does so where they are: what has the focus and goes leaves it to what has come to its place. */
export function keepFocus(end: AbortSignal): void {
  let path: readonly Step[] = [];
  const take = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.closest(OVER) === null) path = pathOf(target);
  };
  const observer = new MutationObserver(() => {
    if (document.activeElement !== document.body || path[0]?.element.isConnected !== false) return;
    const left = path;
    path = [];
    successorOf(left)?.focus({ preventScroll: true });
  });
  if (end.aborted) return;
  document.addEventListener('focusin', take, { signal: end });
  observer.observe(document.body, { childList: true, subtree: true });
  end.addEventListener('abort', () => {
    observer.disconnect();
  });
}

function pathOf(target: Element): Step[] {
  const path: Step[] = [];
  for (let element = target; element !== document.body; element = element.parentElement) {
    if (element.parentElement === null) break;
    path.push({ element, at: [...element.parentElement.children].indexOf(element) });
  }
  return path;
}

function successorOf(path: readonly Step[]): HTMLElement | null {
  const main = document.querySelector<HTMLElement>('main');
  const gone = path.findIndex(({ element }) => element.isConnected) - 1;
  const [lost, parent] = [path[gone], path[gone + 1]?.element];
  if (lost === undefined || parent === undefined || main?.contains(parent) !== true) return main;
  const { children } = parent;
  const there = children[Math.min(lost.at, children.length - 1)];
  if (there?.matches(FOCUSABLE) === true) return there as HTMLElement;
  return there?.querySelector<HTMLElement>(FOCUSABLE) ?? parent.querySelector<HTMLElement>(FOCUSABLE) ?? main;
}

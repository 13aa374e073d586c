import '../later.css';
import { Menu } from '@base-ui/react/menu';
import type { LucideIcon } from 'lucide-react';
import type { MouseEvent, ReactNode } from 'react';

export interface Choice {
  readonly title: string;
  readonly icon: LucideIcon;
  readonly isDangerous?: boolean;
  readonly onChoose: (event: MouseEvent) => void;
}

interface Props {
  /** The button that it belongs to; it gets the focus back. */
  readonly at: HTMLElement;
  readonly choices: readonly Choice[];
  readonly onClose: () => void;
}

/** What else can be done. One for a whole list, at the button that was pressed: a row has no more than that. */
export function ChoiceMenu({ at, choices, onClose }: Props): ReactNode {
  return (
    <Menu.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <Menu.Portal>
        <Menu.Positioner className="menu-at" anchor={at} align="end" sideOffset={4}>
          <Menu.Popup className="menu" finalFocus={() => (at.isConnected ? at : false)}>
            {choices.map(({ title, icon: Icon, isDangerous, onChoose }) => (
              <Menu.Item key={title} data-danger={isDangerous} onClick={onChoose}>
                <Icon aria-hidden="true" />
                {title}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

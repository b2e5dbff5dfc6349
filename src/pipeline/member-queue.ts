/** A call that stands in line; the line calls it when its turn has come. */
export interface LineMember {
  /**
   * May try to start now; the pace has counted it, and it gives that back if it is not sent after all. `false` = it is
   * answered instead, so the turn is the next one's.
   */
  onTurn(): boolean
  readonly inLine: boolean
  /** What it waits for will never come. */
  onDismissed(): void
}

const SLACK = 1024

/** First in, first out. Whoever has left is skipped, and dropped as new ones come, so that a long outage piles nothing up. */
export class MemberQueue {
  #members: LineMember[] = []
  #head = 0
  #someLeft = false

  get length(): number {
    if (this.#someLeft) {
      this.#members = this.#members.slice(this.#head).filter(({ inLine }) => inLine)
      this.#head = 0
      this.#someLeft = false
    }
    return this.#members.length - this.#head
  }

  get first(): LineMember | null {
    while (this.#head < this.#members.length) {
      const member = this.#members[this.#head] as LineMember
      if (member.inLine) return member
      this.#head += 1
    }
    this.#members = []
    this.#head = 0
    return null
  }

  /** A member is in line no more; it need not say so after its turn. */
  onLeft(): void {
    this.#someLeft = true
  }

  push(member: LineMember): void {
    // Looking drops those who left.
    void this.first
    this.#members.push(member)
  }

  unshift(member: LineMember): void {
    if (this.#head > 0) this.#members[--this.#head] = member
    else this.#members.unshift(member)
  }

  shift(): LineMember | null {
    const member = this.first
    if (member === null) return null
    this.#head += 1
    if (this.#head > SLACK) {
      this.#members = this.#members.slice(this.#head)
      this.#head = 0
    }
    return member
  }

  /** Everyone, those who left included. */
  takeAll(): LineMember[] {
    const members = this.#members.slice(this.#head)
    this.#members = []
    this.#head = 0
    return members
  }
}

import { Unwilling } from './world';

/** Works out sums of numbers with + - * / and brackets; the result has a fraction, as the recorded ones have. */
export function calculate(expression: string): string {
  if (!/^[\d+\-*/(). ]*$/.test(expression)) throw new Unwilling('invalid characters in expression');
  const reader = new SumReader(expression.replaceAll(' ', ''));
  const value = Math.round(reader.whole() * 100) / 100;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

class SumReader {
  private at = 0;

  constructor(private readonly text: string) {}

  whole(): number {
    const value = this.sum();
    if (this.at < this.text.length) throw new Unwilling('invalid expression');
    return value;
  }

  private sum(): number {
    let value = this.product();
    for (;;) {
      if (this.takes('+')) value += this.product();
      else if (this.takes('-')) value -= this.product();
      else return value;
    }
  }

  private product(): number {
    let value = this.factor();
    for (;;) {
      if (this.takes('*')) value *= this.factor();
      else if (this.takes('/')) value /= this.divisor();
      else return value;
    }
  }

  private divisor(): number {
    const value = this.factor();
    if (value === 0) throw new Unwilling('division by zero');
    return value;
  }

  private factor(): number {
    if (this.takes('-')) return -this.factor();
    if (this.takes('+')) return this.factor();
    if (!this.takes('(')) return this.number();
    const value = this.sum();
    if (!this.takes(')')) throw new Unwilling('invalid expression');
    return value;
  }

  private number(): number {
    const match = /^(\d+(\.\d*)?|\.\d+)/.exec(this.text.slice(this.at));
    if (!match) throw new Unwilling('invalid expression');
    this.at += match[0].length;
    return Number(match[0]);
  }

  private takes(sign: string): boolean {
    if (this.text.charAt(this.at) !== sign) return false;
    this.at++;
    return true;
  }
}

//! From tokens to a program in postfix order.
//!
//! Precedence climbing, with the depth bound enforced on the way down, so that hostile nesting ends
//! after a few dozen frames. A tree was rejected: postfix needs one allocation, no recursion to
//! evaluate or to drop, and runs operands from left to right, which is the order in which faults of
//! evaluation are reported. Names and arities are looked up here, but their faults are only reported
//! for text that parses.

use mast_kernel::limits::EXPRESSION_DEPTH_MAX;

use super::fault::{Fault, Reason};
use super::name::{Constant, Function};
use super::token::{Kind, Token};

/// An operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
}

/// What one step of a program does to the stack of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Pushes the number written at the step's place, which ends at this byte.
    Number(usize),
    Constant(Constant),
    Negate,
    Binary(Binary),
    /// Takes so many arguments.
    Call(Function, usize),
}

/// One step, and the byte at which its token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) place: usize,
}

/// The program of `expression`, whose tokens are `tokens`.
pub(super) fn parse(expression: &str, tokens: &[Token]) -> Result<Vec<Step>, Fault> {
    let program = Vec::with_capacity(tokens.len());
    let mut parser = Parser { expression, tokens, next: 0, depth: 0, program, name_fault: None };
    parser.expression(Level::Sum)?;
    if parser.peek() != Kind::End {
        return Err(parser.unexpected());
    }
    match parser.name_fault {
        None => Ok(parser.program),
        Some((place, reason)) => {
            let what = if reason == Reason::Arity { "wrong number of arguments" } else { "unknown name" };
            Err(Fault::at(reason, expression, place, what))
        }
    }
}

/// How tightly an operator that stands between its operands binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
}

const fn infix(kind: Kind) -> Option<(Level, Binary)> {
    match kind {
        Kind::Plus => Some((Level::Sum, Binary::Add)),
        Kind::Minus => Some((Level::Sum, Binary::Subtract)),
        Kind::Times => Some((Level::Product, Binary::Multiply)),
        Kind::Over => Some((Level::Product, Binary::Divide)),
        Kind::FloorOver => Some((Level::Product, Binary::FloorDivide)),
        Kind::Modulo => Some((Level::Product, Binary::Modulo)),
        Kind::Number | Kind::Name | Kind::Power | Kind::Open | Kind::Close | Kind::Comma | Kind::End => None,
    }
}

struct Parser<'a> {
    expression: &'a str,
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    program: Vec<Step>,
    /// The first fault of a name, by its place in the text.
    name_fault: Option<(usize, Reason)>,
}

impl Parser<'_> {
    /// Operands joined by operators that bind at least as tightly as `loosest`.
    fn expression(&mut self, loosest: Level) -> Result<(), Fault> {
        self.unary()?;
        while let Some((level, operator)) = infix(self.peek()) {
            if level < loosest {
                break;
            }
            let place = self.advance().start;
            if level == Level::Sum {
                self.expression(Level::Product)?;
            } else {
                self.unary()?;
            }
            self.emit(Action::Binary(operator), place);
        }
        Ok(())
    }

    /// `("+" | "-") unary | power`.
    fn unary(&mut self) -> Result<(), Fault> {
        let kind = self.peek();
        if !matches!(kind, Kind::Plus | Kind::Minus) {
            return self.power();
        }
        let place = self.advance().start;
        self.descend(place)?;
        self.unary()?;
        self.depth -= 1;
        if kind == Kind::Minus {
            self.emit(Action::Negate, place);
        }
        Ok(())
    }

    /// `primary [("^" | "**") unary]`. A chain of powers groups from the right; it is read in a loop, so
    /// that it costs no depth, and its operators follow all its operands.
    fn power(&mut self) -> Result<(), Fault> {
        let first = self.next;
        let mut n_pending = 0_usize;
        loop {
            self.primary()?;
            if self.peek() != Kind::Power {
                break;
            }
            self.advance();
            n_pending += 1;
            if matches!(self.peek(), Kind::Plus | Kind::Minus) {
                self.unary()?;
                break;
            }
        }
        let place = self.tokens.get(first).map_or(0, |token| token.start);
        for _ in 0..n_pending {
            self.emit(Action::Binary(Binary::Power), place);
        }
        Ok(())
    }

    /// `NUMBER | NAME | call | "(" expression ")"`.
    fn primary(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Kind::Number => {
                let token = self.advance();
                self.emit(Action::Number(token.end), token.start);
            }
            Kind::Name => self.name()?,
            Kind::Open => {
                let place = self.advance().start;
                self.descend(place)?;
                self.expression(Level::Sum)?;
                self.depth -= 1;
                self.expect(Kind::Close)?;
            }
            Kind::Plus
            | Kind::Minus
            | Kind::Times
            | Kind::Over
            | Kind::FloorOver
            | Kind::Modulo
            | Kind::Power
            | Kind::Close
            | Kind::Comma
            | Kind::End => return Err(self.unexpected()),
        }
        Ok(())
    }

    /// A constant, or a function if a parenthesis follows.
    fn name(&mut self) -> Result<(), Fault> {
        let token = self.advance();
        let text = self.expression.get(token.start..token.end).unwrap_or_default();
        if self.peek() != Kind::Open {
            match Constant::named(text) {
                Some(constant) => self.emit(Action::Constant(constant), token.start),
                None => self.note(token.start, Reason::UnknownName),
            }
            return Ok(());
        }
        self.advance();
        let n_arguments = self.arguments()?;
        match Function::named(text) {
            None => self.note(token.start, Reason::UnknownName),
            Some(function) if !function.takes(n_arguments) => self.note(token.start, Reason::Arity),
            Some(function) => self.emit(Action::Call(function, n_arguments), token.start),
        }
        Ok(())
    }

    /// `[expression ("," expression)*] ")"`; answers how many there were.
    fn arguments(&mut self) -> Result<usize, Fault> {
        let mut n_arguments = 0;
        if self.peek() == Kind::Close {
            self.advance();
            return Ok(n_arguments);
        }
        loop {
            let place = self.look().start;
            self.descend(place)?;
            self.expression(Level::Sum)?;
            self.depth -= 1;
            n_arguments += 1;
            if self.peek() != Kind::Comma {
                break;
            }
            self.advance();
        }
        self.expect(Kind::Close)?;
        Ok(n_arguments)
    }

    /// One level down: a group, an argument or a sign.
    fn descend(&mut self, place: usize) -> Result<(), Fault> {
        if self.depth == EXPRESSION_DEPTH_MAX {
            return Err(Fault::at(Reason::ExpressionTooDeep, self.expression, place, "nested too deeply"));
        }
        self.depth += 1;
        Ok(())
    }

    fn emit(&mut self, action: Action, place: usize) {
        self.program.push(Step { action, place });
    }

    fn note(&mut self, place: usize, reason: Reason) {
        if self.name_fault.is_none_or(|(first, _)| place < first) {
            self.name_fault = Some((place, reason));
        }
    }

    fn look(&self) -> Token {
        let end = Token { kind: Kind::End, start: self.expression.len(), end: self.expression.len() };
        self.tokens.get(self.next).copied().unwrap_or(end)
    }

    fn peek(&self) -> Kind {
        self.look().kind
    }

    fn advance(&mut self) -> Token {
        let token = self.look();
        self.next += 1;
        token
    }

    fn expect(&mut self, kind: Kind) -> Result<(), Fault> {
        if self.peek() != kind {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(())
    }

    fn unexpected(&self) -> Fault {
        let token = self.look();
        let what = match self.expression.get(token.start..token.end) {
            None | Some("") => "the expression ends too early".to_owned(),
            Some(text) => format!("unexpected {text}"),
        };
        Fault::at(Reason::Syntax, self.expression, token.start, &what)
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the program, written with one word a step, or the fault.
    fn check(expression: &str, expect: &Expect) {
        let text = match tokens(expression).and_then(|tokens| parse(expression, &tokens)) {
            Ok(program) => program
                .iter()
                .map(|step| match step.action {
                    Action::Number(end) => expression.get(step.place..end).unwrap().to_owned(),
                    Action::Constant(constant) => format!("{constant:?}").to_lowercase(),
                    Action::Negate => "neg".to_owned(),
                    Action::Binary(operator) => format!("{operator:?}").to_lowercase(),
                    Action::Call(function, n) => format!("{}/{n}", function.as_str()),
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(fault) => fault.to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn precedence_and_grouping() {
        check("1+2*3-4", &expect!["1 2 3 multiply add 4 subtract"]);
        check("8//3%2/5", &expect!["8 3 floordivide 2 modulo 5 divide"]);
        check("2^3^2", &expect!["2 3 2 power power"]);
        check("-2^2", &expect!["2 2 power neg"]);
        check("2^-3^4*5", &expect!["2 3 4 power neg power 5 multiply"]);
        check("(1+2)*-max(1,-pi)", &expect!["1 2 add 1 pi neg max/2 neg multiply"]);
    }

    #[test]
    fn faults_say_where() {
        check("1 +", &expect!["tool.invalid_arguments.syntax: character 4: the expression ends too early"]);
        check("sqrt 4", &expect!["tool.invalid_arguments.syntax: character 6: unexpected 4"]);
        check(
            "2 + ln(x, foo())",
            &expect!["tool.invalid_arguments.arity: character 5: wrong number of arguments"],
        );
        check("e(1) + sqrt()", &expect!["tool.invalid_arguments.unknown_name: character 1: unknown name"]);
        check(
            "nosuch + (",
            &expect!["tool.invalid_arguments.syntax: character 11: the expression ends too early"],
        );
    }

    #[test]
    fn depth_counts_groups_arguments_and_signs_but_not_powers() {
        let nested = |open: &str, n: usize| {
            format!("{}1{}", open.repeat(n), if open == "-" { String::new() } else { ")".repeat(n) })
        };
        let outcome = |expression: String| {
            let found = tokens(&expression).unwrap();
            parse(&expression, &found).map(|_| ()).map_err(|fault| fault.reason)
        };
        for open in ["(", "abs(", "-"] {
            assert_eq!(outcome(nested(open, EXPRESSION_DEPTH_MAX)), Ok(()), "{open}");
            assert_eq!(
                outcome(nested(open, EXPRESSION_DEPTH_MAX + 1)),
                Err(Reason::ExpressionTooDeep),
                "{open}"
            );
        }
        assert_eq!(outcome(format!("1{}", "^1".repeat(255))), Ok(()));
    }
}
